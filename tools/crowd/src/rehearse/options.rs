//! Options of `run`: where the room is, what the crowd is like, what to report.

use std::{path::PathBuf, time::Duration};

use clap::Args;
use reqwest::Url;
use secrecy::SecretString;
use vestibule_domain::{QueueingMethod, RoomId};

use crate::{
    charts::Pictures,
    crowd::{CrowdOptions, duration, method},
    http::base_url,
};

/// Options of `run`.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(crate) struct RunOptions {
    /// Room to visit
    #[arg(long, env = "VESTIBULE_ROOM", default_value = "demo",
          value_parser = |text: &str| RoomId::new(text), help_heading = "Where")]
    pub(crate) room: RoomId,

    /// Admission service to visit, as http://host:port; give several to spread the crowd
    #[arg(long, env = "VESTIBULE_ADMISSION", value_delimiter = ',', value_name = "URL",
          default_value = "http://127.0.0.1:8080", value_parser = base_url, help_heading = "Where")]
    pub(crate) admission: Vec<Url>,

    /// Controller to read the room's limits and live figures from, as http://host:port
    #[arg(long, env = "VESTIBULE_CONTROLLER", value_name = "URL", value_parser = base_url,
          help_heading = "Where")]
    pub(crate) controller: Option<Url>,

    /// The controller's API token
    #[arg(
        long,
        env = "VESTIBULE_API_TOKEN",
        hide_env_values = true,
        value_name = "TOKEN",
        help_heading = "Where"
    )]
    pub(crate) api_token: Option<SecretString>,

    /// File that holds the controller's API token
    #[arg(
        long,
        env = "VESTIBULE_API_TOKEN_FILE",
        value_name = "FILE",
        conflicts_with = "api_token",
        help_heading = "Where"
    )]
    pub(crate) api_token_file: Option<PathBuf>,

    /// Create or replace the room first, with the limits given here (needs --controller)
    #[arg(long, env = "VESTIBULE_CREATE", requires = "controller", help_heading = "The room")]
    pub(crate) create: bool,

    /// How many may be inside at once; without it, what the controller says
    #[arg(long, env = "VESTIBULE_CEILING", value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..), help_heading = "The room")]
    pub(crate) ceiling: Option<u32>,

    /// How many may enter in any minute; without it, what the controller says
    #[arg(long, env = "VESTIBULE_RATE", value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..), help_heading = "The room")]
    pub(crate) rate: Option<u32>,

    /// How long a session lasts; with --create it is set, without it what the controller says
    #[arg(long, env = "VESTIBULE_SESSION", value_name = "DURATION", value_parser = duration::parse,
          help_heading = "The room")]
    pub(crate) session: Option<Duration>,

    /// The order in which people enter; without it, what the controller says
    #[arg(long, env = "VESTIBULE_METHOD", value_parser = method::parser(),
          help_heading = "The room")]
    pub(crate) method: Option<QueueingMethod>,

    #[command(flatten)]
    pub(crate) crowd: CrowdOptions,

    /// Those inside never say that they leave: their session just runs out
    #[arg(long, env = "VESTIBULE_LEAVE_SILENTLY", help_heading = "The crowd")]
    pub(crate) leave_silently: bool,

    /// Stop after this long, wherever the crowd then is
    #[arg(long, env = "VESTIBULE_TIMEOUT", value_name = "DURATION", default_value = "1h",
          value_parser = duration::parse, help_heading = "The run")]
    pub(crate) timeout: Duration,

    /// Keep-alive connections per admission service; visitors share them
    #[arg(long, env = "VESTIBULE_CONNECTIONS", value_name = "N", default_value_t = 128,
          value_parser = clap::value_parser!(u32).range(1..=60_000), help_heading = "The run")]
    pub(crate) connections: u32,

    /// Broken connections that were made good on another try are expected: do not exit with 1
    #[arg(long, env = "VESTIBULE_EXPECT_OUTAGES", help_heading = "The run")]
    pub(crate) expect_outages: bool,

    /// Report as JSON on stdout, and nothing else there
    #[arg(long, env = "VESTIBULE_JSON", help_heading = "The report")]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) pictures: Pictures,
}
