//! Options of the judge: which seeds, what their nights are like, and which parts of a night are left out.

use std::{fmt, ops::Range, str::FromStr, time::Duration};

use clap::{ArgGroup, Args, ValueEnum};
use vestibule_simulation::FaultKind;

use crate::crowd::{duration, share};

/// How much of a trace is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Shown {
    /// The last moments, without what happens all the time
    Last,
    /// Everything that was kept
    All,
}

/// Seeds, one after the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seeds(pub(super) Range<u64>);

/// Kinds of faults, in the order in which they are drawn from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Faults(pub(super) Vec<FaultKind>);

/// Parts of a night by their numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Numbers(pub(super) Vec<u64>);

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
    pub(crate) faults: Option<Faults>,

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
    let names = |kinds: &[FaultKind]| Faults(kinds.to_vec()).to_string();
    format!(
        "What may go wrong: kinds, `all` or `none`; with --seed, judges the night of that one seed. \
         Without it, what the services withstand: {}. All kinds: {}",
        names(FaultKind::WITHSTOOD),
        names(&FaultKind::ALL)
    )
}

// === impl NightsOptions ===

impl NightsOptions {
    /// Whether nights are asked for, and not a crowd.
    pub(crate) fn are_asked_for(&self) -> bool {
        self.seeds.is_some() || self.faults.is_some()
    }

    /// Whether parts of the night were left out by hand.
    pub(super) fn are_a_selection(&self) -> bool {
        let numbers = [&self.only_faults, &self.only_operations, &self.only_visitors];
        self.until.is_some() || numbers.iter().any(|only| only.is_some())
    }
}

// === impl Seeds ===

impl FromStr for Seeds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| {
            text.trim().parse::<u64>().map_err(|_| "expected N or FROM..TO, as in 1000".to_owned())
        };
        let seeds = match text.split_once("..") {
            Some((from, to)) => number(from)?..number(to)?,
            None => 0..number(text)?,
        };
        if seeds.is_empty() { Err("there is no seed in it".to_owned()) } else { Ok(Self(seeds)) }
    }
}

// === impl Faults ===

impl FromStr for Faults {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let kind = |name: &str| {
            let mut kinds = FaultKind::ALL.into_iter();
            kinds
                .find(|kind| kind.name() == name.trim())
                .ok_or_else(|| format!("`{name}` is none of {}", Self(FaultKind::ALL.to_vec())))
        };
        match text.trim() {
            "none" => Ok(Self(Vec::new())),
            "all" => Ok(Self(FaultKind::ALL.to_vec())),
            text => Ok(Self(text.split(',').map(kind).collect::<Result<_, _>>()?)),
        }
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.0.iter().map(|kind| kind.name()).collect();
        f.write_str(if names.is_empty() { "none".to_owned() } else { names.join(",") }.as_str())
    }
}

// === impl Numbers ===

impl FromStr for Numbers {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.trim() == "none" {
            return Ok(Self(Vec::new()));
        }
        let number = |text: &str| {
            text.trim().parse().map_err(|_| "expected numbers, as in 3,17, or none".to_owned())
        };
        Ok(Self(text.split(',').map(number).collect::<Result<_, _>>()?))
    }
}

impl fmt::Display for Numbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<_> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(if numbers.is_empty() { "none".to_owned() } else { numbers.join(",") }.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_a_count_or_a_range() {
        assert_eq!("1000".parse(), Ok(Seeds(0..1000)));
        assert_eq!("7..9".parse(), Ok(Seeds(7..9)));
        for text in ["", "x", "0", "9..9", "1-5"] {
            assert!(text.parse::<Seeds>().is_err(), "{text}");
        }
    }

    #[test]
    fn faults_keep_their_order_since_seeds_draw_by_it() {
        let text = "wipe,kill,pause-in-tick";
        assert_eq!(text.parse::<Faults>().unwrap().to_string(), text);
        assert_eq!("none".parse::<Faults>().unwrap().to_string(), "none");
        assert_eq!("all".parse::<Faults>().unwrap().0, FaultKind::ALL);
        assert!("earthquake".parse::<Faults>().is_err());
    }

    #[test]
    fn numbers_may_be_none() {
        for text in ["none", "3,17"] {
            assert_eq!(text.parse::<Numbers>().unwrap().to_string(), text);
        }
        assert!("all".parse::<Numbers>().is_err());
    }
}
