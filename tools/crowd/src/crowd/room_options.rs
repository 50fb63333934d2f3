//! What the room is like: the same options for a rehearsal and for a simulation.

use std::time::Duration;

use clap::Args;
use vestibule_domain::QueueingMethod;

use super::{duration, method};

/// Limits of the room, and its order.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "The room")]
pub(crate) struct RoomOptions {
    /// How many may be inside at once
    #[arg(long, env = "VESTIBULE_CEILING", value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) ceiling: Option<u32>,

    /// How many may enter in any minute
    #[arg(long, env = "VESTIBULE_RATE", value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) rate: Option<u32>,

    /// How long a session lasts at most
    #[arg(long, env = "VESTIBULE_SESSION", value_name = "DURATION", value_parser = duration::parse)]
    pub(crate) session: Option<Duration>,

    /// The order in which people enter
    #[arg(long, env = "VESTIBULE_METHOD", value_parser = method::parser())]
    pub(crate) method: Option<QueueingMethod>,
}
