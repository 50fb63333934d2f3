//! Options of the judge: which seeds, what their nights are like, and which parts of a night are left out.

use std::time::Duration;

use clap::{ArgGroup, Args, ValueEnum};
use vestibule_simulation::{FaultKind, FaultKinds, Nights, Numbers, Seeds, Selection, Shape};

use crate::crowd::{CrowdOptions, duration, number::millis, share};

/// How much of a trace is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Shown {
    /// The last moments, without what happens all the time
    Last,
    /// Everything that was kept
    All,
}

/// Options of the judge.
#[derive(Debug, Clone, Args)]
#[command(
    next_help_heading = "Many nights instead, each with rooms, visitors and faults by its seed",
    group = ArgGroup::new("nights").args(["seeds", "faults"]).multiple(true)
)]
pub(crate) struct NightsOptions {
    /// Judge the nights of these seeds instead of simulating one crowd: N are 0..N. --visitors is
    /// then the most there are in one night
    #[arg(long, env = "VESTIBULE_SEEDS", value_name = "N|FROM..TO", conflicts_with = "seed")]
    pub(crate) seeds: Option<Seeds>,

    /// What may go wrong: kinds, `all` or `none`; with --seed, judges the night of that one seed.
    /// Without it, what the services withstand
    #[arg(long, env = "VESTIBULE_FAULTS", value_name = "KIND,…",
          long_help = faults_help())]
    pub(crate) faults: Option<FaultKinds>,

    /// The most faults in one night
    #[arg(
        long,
        env = "VESTIBULE_MOST_FAULTS",
        value_name = "N",
        default_value_t = 3,
        requires = "nights"
    )]
    pub(crate) most_faults: u64,

    /// The most operations of operators in one night
    #[arg(
        long,
        env = "VESTIBULE_OPERATIONS",
        value_name = "N",
        default_value_t = 3,
        requires = "nights"
    )]
    pub(crate) operations: u64,

    /// Share of hostile visitors, in half of the nights (0 to 1)
    #[arg(long, env = "VESTIBULE_HOSTILE", value_name = "SHARE", default_value_t = 0.1,
          value_parser = share, requires = "nights")]
    pub(crate) hostile: f64,

    /// Share of AWS-style clients, in a third of the nights (0 to 1)
    #[arg(long, env = "VESTIBULE_AWS", value_name = "SHARE", default_value_t = 0.1,
          value_parser = share, requires = "nights")]
    pub(crate) aws: f64,

    /// Share of nights in which rooms limit what one network may have and bind sessions, and in which hoarders and
    /// sharers come (0 to 1)
    #[arg(long, env = "VESTIBULE_LIMITED", value_name = "SHARE", default_value_t = 0.3,
          value_parser = share, requires = "nights")]
    pub(crate) limited: f64,

    /// How long a night lasts
    #[arg(long, env = "VESTIBULE_LENGTH", value_name = "DURATION", default_value = "30s",
          value_parser = duration::parse, requires = "nights")]
    pub(crate) length: Duration,

    /// Invariants that are not judged
    #[arg(
        long,
        env = "VESTIBULE_SKIP",
        value_name = "INVARIANT,…",
        value_delimiter = ',',
        requires = "nights"
    )]
    pub(crate) skip: Vec<String>,

    /// Put a defect into every script, to see that it is found: whatever says INSTEAD does DOES
    #[arg(long, value_name = "INSTEAD=>DOES", value_parser = defect, requires = "nights")]
    pub(crate) defect: Option<(String, String)>,

    /// How much of a broken night's trace is shown
    #[arg(long, env = "VESTIBULE_TRACE", value_name = "HOW", value_enum,
          default_value_t = Shown::Last, requires = "nights")]
    pub(crate) trace: Shown,

    /// End the night earlier than its length says, without drawing another
    #[arg(long, value_name = "DURATION", value_parser = duration::parse, requires = "nights")]
    pub(crate) until: Option<Duration>,

    /// Of the night's faults only these, by number; or `none`
    #[arg(long, value_name = "N,…", requires = "nights")]
    pub(crate) only_faults: Option<Numbers>,

    /// Of its operations only these; or `none`
    #[arg(long, value_name = "N,…", requires = "nights")]
    pub(crate) only_operations: Option<Numbers>,

    /// Of its visitors only these; or `none`
    #[arg(long, value_name = "N,…", requires = "nights")]
    pub(crate) only_visitors: Option<Numbers>,
}

fn faults_help() -> String {
    let names = |kinds: &[FaultKind]| FaultKinds(kinds.to_vec()).to_string();
    format!(
        "What may go wrong: kinds, `all` or `none`; with --seed, judges the night of that one seed. \
         Without it, what the services withstand: {}. All kinds: {}",
        names(&FaultKind::withstood()),
        names(FaultKind::ALL)
    )
}

// === impl NightsOptions ===

impl NightsOptions {
    /// Whether nights are asked for, and not a crowd.
    pub(crate) fn are_asked_for(&self) -> bool {
        self.seeds.is_some() || self.faults.is_some()
    }

    /// Whether everything is shown that was kept of a broken night.
    pub(super) fn shows_everything(&self) -> bool {
        self.trace == Shown::All
    }

    /// The nights that are asked for.
    pub(super) fn nights(&self, crowd: &CrowdOptions) -> Nights {
        let one = crowd.seed();
        Nights {
            seeds: self.seeds.as_ref().map_or(one..one + 1, |seeds| seeds.0.clone()),
            shape: Shape {
                length_ms: millis(self.length),
                visitors: crowd.visitors.into(),
                faults: self.faults.clone().map_or_else(FaultKind::withstood, |kinds| kinds.0),
                most_faults: self.most_faults,
                most_operations: self.operations,
                hostile: self.hostile,
                aws: self.aws,
                limited: self.limited,
            },
            skipped: self.skip.iter().map(|name| name.trim().to_owned()).collect(),
            defect: self.defect.clone(),
            only: Selection {
                until_ms: self.until.map(millis),
                faults: self.only_faults.clone(),
                operations: self.only_operations.clone(),
                visitors: self.only_visitors.clone(),
            },
        }
    }
}

fn defect(text: &str) -> Result<(String, String), &'static str> {
    let (instead_of, does) = text.split_once("=>").ok_or("expected INSTEAD=>DOES")?;
    Ok((instead_of.to_owned(), does.to_owned()))
}
