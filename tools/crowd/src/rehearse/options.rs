//! Options of `run`: where the room is, what the crowd is like, what to report.

use std::{path::PathBuf, time::Duration};

use clap::{Arg, Args};
use reqwest::Url;
use secrecy::SecretString;
use vestibule_domain::RoomId;

use crate::{
    charts::Pictures,
    crowd::{CompanyOptions, CrowdOptions, HoardingOptions, RoomOptions, duration},
    http::base_url,
};

/// Where the room is.
#[derive(Debug, Args)]
#[command(next_help_heading = "Where")]
pub(crate) struct WhereOptions {
    /// Room to visit
    #[arg(long, env = "VESTIBULE_ROOM", default_value = "demo",
          value_parser = |text: &str| RoomId::new(text))]
    pub(crate) room: RoomId,

    /// Admission service to visit, as http://host:port; give several to spread the crowd
    #[arg(long, env = "VESTIBULE_ADMISSION", value_delimiter = ',', value_name = "URL",
          default_value = "http://127.0.0.1:8080", value_parser = base_url)]
    pub(crate) admission: Vec<Url>,

    /// Controller to read the room's limits and live figures from, as http://host:port
    #[arg(long, env = "VESTIBULE_CONTROLLER", value_name = "URL", value_parser = base_url)]
    pub(crate) controller: Option<Url>,

    /// The controller's API token
    #[arg(long, env = "VESTIBULE_API_TOKEN", hide_env_values = true, value_name = "TOKEN")]
    pub(crate) api_token: Option<SecretString>,

    /// File that holds the controller's API token
    #[arg(
        long,
        env = "VESTIBULE_API_TOKEN_FILE",
        value_name = "FILE",
        conflicts_with = "api_token"
    )]
    pub(crate) api_token_file: Option<PathBuf>,
}

/// Options of `run`.
#[derive(Debug, Args)]
#[command(
    mut_arg("ceiling", controllers("How many may be inside at once;")),
    mut_arg("rate", controllers("How many may enter in any minute;")),
    mut_arg("session", controllers("How long a session lasts; with --create it is set,")),
    mut_arg("method", controllers("The order in which people enter;"))
)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(crate) struct RunOptions {
    #[command(flatten)]
    pub(crate) at: WhereOptions,

    /// Create or replace the room first, with the limits given here (needs --controller)
    #[arg(long, env = "VESTIBULE_CREATE", requires = "controller", help_heading = "The room")]
    pub(crate) create: bool,

    #[command(flatten)]
    pub(crate) limits: RoomOptions,

    #[command(flatten)]
    pub(crate) crowd: CrowdOptions,

    /// Those inside never say that they leave: their session just runs out
    #[arg(long, env = "VESTIBULE_LEAVE_SILENTLY", help_heading = "The crowd")]
    pub(crate) leave_silently: bool,

    #[command(flatten)]
    pub(crate) company: CompanyOptions,

    #[command(flatten)]
    pub(crate) hoarding: HoardingOptions,

    /// Stop after this long, wherever the crowd then is
    #[arg(long, env = "VESTIBULE_TIMEOUT", value_name = "DURATION", default_value = "1h",
          value_parser = duration::parse, help_heading = "The run")]
    pub(crate) timeout: Duration,

    /// Keep-alive connections per admission service; visitors share them. A claim keeps one for up to two
    /// seconds while no seat is free, so there should be as many as stand at the door. Hostile company
    /// has as many of its own
    #[arg(long, env = "VESTIBULE_CONNECTIONS", value_name = "N", default_value_t = 400,
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

/// What is not given is what the controller says.
fn controllers(what: &'static str) -> impl FnOnce(Arg) -> Arg {
    move |arg| arg.help(format!("{what} without it, what the controller says"))
}
