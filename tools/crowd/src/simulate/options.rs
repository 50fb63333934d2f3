//! Options of `simulate`: what the room and the crowd are like, in virtual time.

use std::{path::PathBuf, time::Duration};

use clap::{Arg, Args, ValueEnum, builder::ArgPredicate};
use vestibule_simulation::RegionMix;

use super::nights::NightsOptions;
use crate::{
    charts::Pictures,
    crowd::{CompanyOptions, CrowdOptions, HoardingOptions, RoomOptions, duration, share},
};

/// A crowd that somebody has published something about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Experiment {
    /// 10,000 visitors over 30 minutes, in order and by chance, staying a minute each
    #[value(name = "cloudflare-2021")]
    Cloudflare2021,
    /// 10,000 visitors in a minute, staying one, alone and beside 1,000 clients of one network that take all that they
    /// can get of a room with the default limits: --ceiling (1,000), --rate and --session are those of the room
    #[value(name = "one-network")]
    OneNetwork,
}

/// Options of `simulate`.
#[derive(Debug, Clone, Args)]
#[command(
    next_help_heading = "The crowd",
    mut_arg("visitors", |arg| {
        let nights = ["seeds", "faults"].map(|of| (of, ArgPredicate::IsPresent, Some("60")));
        arg.default_value("10000").default_value_ifs(nights)
    }),
    mut_arg("arrive", |arg| arg.default_value("30m")),
    mut_arg("stay", |arg| arg.default_value("1m")),
    mut_arg("method", |arg| arg.default_value("fifo")),
    mut_arg("session", |arg| arg.default_value("1h")),
    mut_arg("ghosts", only_a_crowds),
    mut_arg("replayers", only_a_crowds),
    mut_arg("idlers", only_a_crowds),
    mut_arg("hoarders", only_a_crowds),
    mut_arg("sharers", only_a_crowds)
)]
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

    /// How many admissions there are; at least one per region
    #[arg(long, env = "VESTIBULE_ADMISSIONS", value_name = "N", default_value = "3",
          value_parser = count, help_heading = "The services")]
    pub(crate) admissions: usize,

    /// How many controllers there are; one of them leads
    #[arg(long, env = "VESTIBULE_CONTROLLERS", value_name = "N", default_value = "2",
          value_parser = count, help_heading = "The services")]
    pub(crate) controllers: usize,

    /// Needed no more: Redis is part of the simulation
    #[arg(long, value_name = "URL", hide = true)]
    pub(super) redis: Option<String>,

    /// Changed no more: the simulated controllers tick as the real ones do
    #[arg(long, value_name = "DURATION", hide = true)]
    pub(super) tick: Option<String>,

    #[command(flatten)]
    pub(crate) limits: RoomOptions,

    /// Polls per second that the waiting crowd may cost; without it, as every room
    #[arg(long, env = "VESTIBULE_POLL_BUDGET", value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..), help_heading = "The room")]
    pub(crate) poll_budget: Option<u32>,

    #[command(flatten)]
    pub(crate) crowd: CrowdOptions,

    /// The room is held while they arrive, so that everyone is there when it opens; waits are
    /// counted from then
    #[arg(long, env = "VESTIBULE_SPOOFED_ARRIVALS")]
    pub(crate) spoofed_arrivals: bool,

    /// Share whose tab is hidden: it polls once a minute at most (0 to 1)
    #[arg(long, env = "VESTIBULE_HIDDEN", value_name = "SHARE", default_value_t = 0.0,
          value_parser = share)]
    pub(crate) hidden: f64,

    /// Share who poll every second, whatever they are told (0 to 1)
    #[arg(long, env = "VESTIBULE_IMPATIENT", value_name = "SHARE", default_value_t = 0.0,
          value_parser = share)]
    pub(crate) impatient: f64,

    /// Regions and their shares of the arrivals
    #[arg(long, env = "VESTIBULE_REGIONS", value_name = "NAME=SHARE,…", default_value = "local=1")]
    pub(crate) regions: RegionMix,

    /// When nine of ten newcomers suddenly come from another region
    #[arg(long, env = "VESTIBULE_SHIFT_AT", value_name = "DURATION", value_parser = duration::parse,
          requires = "shift_to")]
    pub(crate) shift_at: Option<Duration>,

    /// From which region they then come
    #[arg(long, env = "VESTIBULE_SHIFT_TO", value_name = "NAME", requires = "shift_at")]
    pub(crate) shift_to: Option<String>,

    #[command(flatten)]
    pub(crate) company: CompanyOptions,

    #[command(flatten)]
    pub(crate) hoarding: HoardingOptions,

    /// Stop after so much virtual time, wherever the crowd then is
    #[arg(long, env = "VESTIBULE_TIMEOUT", value_name = "DURATION", default_value = "48h",
          value_parser = duration::parse, help_heading = "The run")]
    pub(crate) timeout: Duration,

    /// Report as JSON on stdout, and nothing else there
    #[arg(long, env = "VESTIBULE_JSON", help_heading = "The report")]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) pictures: Pictures,

    #[command(flatten)]
    pub(crate) nights: NightsOptions,
}

// === impl SimulateOptions ===

impl SimulateOptions {
    /// What to say about options that decide nothing.
    pub(super) fn notes(&self) -> impl Iterator<Item = &'static str> {
        let redis = self.redis.is_some().then_some("--redis is ignored: no Redis is needed");
        let tick = self.tick.is_some().then_some("--tick is ignored: the leader ticks every 250ms");
        redis.into_iter().chain(tick)
    }
}

/// Nights have hostile visitors of their own kinds, and an experiment has none.
fn only_a_crowds(arg: Arg) -> Arg {
    arg.conflicts_with_all(["seeds", "faults", "experiment"])
}

/// How many of a service there are.
fn count(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(count @ 1..=64) => Ok(count),
        _ => Err("expected 1 to 64".to_owned()),
    }
}
