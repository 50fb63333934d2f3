//! Options of `simulate`: what the room and the crowd are like, in virtual time.

use std::{path::PathBuf, time::Duration};

use clap::{Args, ValueEnum};

use super::{Pictures, StaySpread, share};
use crate::{duration, method::QueueingMethod, plan::Arrivals, simulate::RegionMix};

/// A crowd that somebody has published something about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Experiment {
    /// 10,000 visitors over 30 minutes, in order and by chance, staying a minute each
    #[value(name = "cloudflare-2021")]
    Cloudflare2021,
}

/// Options of `simulate`.
#[derive(Debug, Clone, Args)]
pub(crate) struct SimulateOptions {
    /// A whole experiment instead: its own crowds, pictures into --out, and a table
    #[arg(long, env = "VESTIBULE_EXPERIMENT", value_enum, help_heading = "What")]
    pub(crate) experiment: Option<Experiment>,

    /// Folder for the experiment's pictures
    #[arg(
        long,
        env = "VESTIBULE_OUT",
        value_name = "DIR",
        default_value = "experiment",
        help_heading = "What"
    )]
    pub(crate) out: PathBuf,

    /// Redis whose scripts decide; a room of a random name is created there and deleted at the
    /// end. No controller may be leading on it
    #[arg(
        long,
        env = "VESTIBULE_REDIS_URL",
        hide_env_values = true,
        value_name = "URL",
        default_value = "redis://127.0.0.1:6379",
        help_heading = "Where"
    )]
    pub(crate) redis: String,

    /// The order in which people enter
    #[arg(long, env = "VESTIBULE_METHOD", value_enum, default_value_t = QueueingMethod::Fifo,
          help_heading = "The room")]
    pub(crate) method: QueueingMethod,

    /// How many may be inside at once
    #[arg(long, env = "VESTIBULE_CEILING", value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..), help_heading = "The room")]
    pub(crate) ceiling: Option<u32>,

    /// How many may enter in any minute
    #[arg(long, env = "VESTIBULE_RATE", value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..), help_heading = "The room")]
    pub(crate) rate: Option<u32>,

    /// How long a session lasts at most
    #[arg(long, env = "VESTIBULE_SESSION", value_name = "DURATION", default_value = "1h",
          value_parser = duration::parse, help_heading = "The room")]
    pub(crate) session: Duration,

    /// Polls per second that the waiting crowd may cost; without it, as every room
    #[arg(long, env = "VESTIBULE_POLL_BUDGET", value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..), help_heading = "The room")]
    pub(crate) poll_budget: Option<u32>,

    /// How often the leader looks at the room
    #[arg(long, env = "VESTIBULE_TICK", value_name = "DURATION", default_value = "250ms",
          value_parser = tick, help_heading = "The room")]
    pub(crate) tick: Duration,

    /// How many visitors come
    #[arg(long, env = "VESTIBULE_VISITORS", value_name = "N", default_value_t = 10_000,
          value_parser = clap::value_parser!(u32).range(1..), help_heading = "The crowd")]
    pub(crate) visitors: u32,

    /// Over how long they arrive; 0 = all at once
    #[arg(long, env = "VESTIBULE_ARRIVE", value_name = "DURATION", default_value = "30m",
          value_parser = duration::parse, help_heading = "The crowd")]
    pub(crate) arrive: Duration,

    /// How arrivals spread over that time
    #[arg(long, env = "VESTIBULE_ARRIVALS", value_enum, default_value_t = Arrivals::Even,
          help_heading = "The crowd")]
    pub(crate) arrivals: Arrivals,

    /// The room is held while they arrive, so that everyone is there when it opens; waits are
    /// counted from then
    #[arg(long, env = "VESTIBULE_SPOOFED_ARRIVALS", help_heading = "The crowd")]
    pub(crate) spoofed_arrivals: bool,

    /// How long each stays inside before it leaves
    #[arg(long, env = "VESTIBULE_STAY", value_name = "DURATION", default_value = "1m",
          value_parser = duration::parse, help_heading = "The crowd")]
    pub(crate) stay: Duration,

    /// Whether everyone stays exactly that long
    #[arg(long, env = "VESTIBULE_STAY_SPREAD", value_name = "SPREAD", value_enum,
          default_value_t = StaySpread::Fixed, help_heading = "The crowd")]
    pub(crate) stay_spread: StaySpread,

    /// Share who close the tab without a word, at a random moment of their wait (0 to 1)
    #[arg(long, env = "VESTIBULE_ABANDON", value_name = "SHARE", default_value_t = 0.0,
          value_parser = share, help_heading = "The crowd")]
    pub(crate) abandon: f64,

    /// Share whose tab is hidden: it polls once a minute at most (0 to 1)
    #[arg(long, env = "VESTIBULE_HIDDEN", value_name = "SHARE", default_value_t = 0.0,
          value_parser = share, help_heading = "The crowd")]
    pub(crate) hidden: f64,

    /// Share who poll every second, whatever they are told (0 to 1)
    #[arg(long, env = "VESTIBULE_IMPATIENT", value_name = "SHARE", default_value_t = 0.0,
          value_parser = share, help_heading = "The crowd")]
    pub(crate) impatient: f64,

    /// Regions and their shares of the arrivals
    #[arg(
        long,
        env = "VESTIBULE_REGIONS",
        value_name = "NAME=SHARE,…",
        default_value = "local=1",
        help_heading = "The crowd"
    )]
    pub(crate) regions: RegionMix,

    /// When nine of ten newcomers suddenly come from another region
    #[arg(long, env = "VESTIBULE_SHIFT_AT", value_name = "DURATION", value_parser = duration::parse,
          requires = "shift_to", help_heading = "The crowd")]
    pub(crate) shift_at: Option<Duration>,

    /// From which region they then come
    #[arg(
        long,
        env = "VESTIBULE_SHIFT_TO",
        value_name = "NAME",
        requires = "shift_at",
        help_heading = "The crowd"
    )]
    pub(crate) shift_to: Option<String>,

    /// Random seed: the same seed simulates the same crowd
    #[arg(long, env = "VESTIBULE_SEED", value_name = "N", help_heading = "The crowd")]
    pub(crate) seed: Option<u64>,

    /// Stop after so much virtual time, wherever the crowd then is
    #[arg(long, env = "VESTIBULE_TIMEOUT", value_name = "DURATION", default_value = "48h",
          value_parser = duration::parse, help_heading = "The run")]
    pub(crate) timeout: Duration,

    /// Report as JSON on stdout, and nothing else there
    #[arg(long, env = "VESTIBULE_JSON", help_heading = "The report")]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) pictures: Pictures,
}

/// The leader's tick: whole steps of the simulation.
fn tick(text: &str) -> Result<Duration, String> {
    let tick = duration::parse(text)?;
    let ms = tick.as_millis();
    if (50..=10_000).contains(&ms) && ms.is_multiple_of(50) {
        Ok(tick)
    } else {
        Err("expected a multiple of 50ms, up to 10s".to_owned())
    }
}
