//! What nights have in common, the scenario of one seed, and the command line that plays exactly
//! some scenario again.

use std::{fmt::Write, ops::Range};

use vestibule_history::{Bounds, Invariant};
use vestibule_simulation::{Broken, FaultKind, Outcome, Scenario, Seed, Shape, run};

use super::options::{Faults, NightsOptions, Numbers};
use crate::{crowd::CrowdOptions, simulate::visitor::millis};

/// What the nights have in common.
#[derive(Debug, Clone)]
pub(super) struct Nights {
    /// Their seeds.
    pub(super) seeds: Range<u64>,
    /// What they are drawn by.
    pub(super) shape: Shape,
    /// How strict the judge is.
    pub(super) bounds: Bounds,
    skipped: Vec<String>,
    options: NightsOptions,
}

// === impl Nights ===

impl Nights {
    /// Those that were asked for.
    pub(super) fn new(nights: &NightsOptions, crowd: &CrowdOptions) -> Self {
        let one = crowd.seed();
        let faults = nights.faults.as_ref().map_or(FaultKind::WITHSTOOD.to_vec(), |f| f.0.clone());
        let by_code = |name: &String| Invariant::ALL.iter().find(|one| one.code() == name);
        let skipped: Vec<_> = nights.skip.iter().map(|name| name.trim().to_owned()).collect();
        Self {
            seeds: nights.seeds.as_ref().map_or(one..one + 1, |seeds| seeds.0.clone()),
            shape: Shape {
                length_ms: millis(nights.length.as_secs_f64()),
                visitors: crowd.visitors.into(),
                faults,
                most_faults: nights.most_faults,
                most_operations: nights.operations,
                hostile: nights.hostile,
                aws: nights.aws,
            },
            bounds: Bounds {
                skipped: skipped.iter().filter_map(by_code).copied().collect(),
                has_all_visitors: true,
                ..Bounds::default()
            },
            skipped,
            options: nights.clone(),
        }
    }

    /// Whether a broken night is made small. One of which parts were left out by hand is not.
    pub(super) fn shrinks(&self) -> bool {
        !self.options.are_a_selection()
    }

    /// The night of `seed`, without what was left out.
    pub(super) fn scenario(&self, seed: u64) -> Scenario {
        let mut night = Scenario::draw(Seed(seed), &self.shape);
        let has = |only: &Option<Numbers>, number| {
            only.as_ref().is_none_or(|only| only.0.contains(&number))
        };
        night.faults.retain(|fault| has(&self.options.only_faults, fault.number));
        night.operations.retain(|one| has(&self.options.only_operations, one.number));
        night.cast.0.retain(|part| has(&self.options.only_visitors, part.number));
        if let Some(until) = self.options.until {
            night.length_ms = night.length_ms.min(millis(until.as_secs_f64()));
        }
        night
    }

    /// Plays a night; `traced`: and keeps its last moments.
    ///
    /// # Errors
    /// When the system gives no event loop.
    pub(super) fn play(&self, night: &Scenario, traced: bool) -> anyhow::Result<Outcome> {
        let mut outcome = run(night, &self.bounds, traced)?;
        outcome.broken.retain(|broken| self.counts(broken));
        Ok(outcome)
    }

    fn counts(&self, broken: &Broken) -> bool {
        !self.skipped.iter().any(|name| name == broken.invariant)
    }

    /// The command line that plays exactly `night` again, which is what is left of its seed's.
    pub(super) fn command_line(&self, night: &Scenario) -> String {
        let shape = &self.shape;
        let drawn = Scenario::draw(night.seed, shape);
        let mut line = format!(
            "vestibule-crowd simulate --seed {} --faults {} --length {} --most-faults {} \
             --operations {} --hostile {} --aws {} --visitors {}",
            night.seed.0,
            Faults(shape.faults.clone()),
            length(shape.length_ms),
            shape.most_faults,
            shape.most_operations,
            shape.hostile,
            shape.aws,
            shape.visitors,
        );
        let mut add = |option: &str, value: String| {
            // Writing to a string does not fail.
            let _ = write!(line, " {option} {value}");
        };
        if !self.skipped.is_empty() {
            add("--skip", format!("'{}'", self.skipped.join(",")));
        }
        if night.length_ms != drawn.length_ms {
            add("--until", length(night.length_ms));
        }
        let numbers = |numbers: Vec<u64>| Numbers(numbers).to_string();
        if night.faults.len() != drawn.faults.len() {
            let faults = night.faults.iter().map(|fault| fault.number);
            add("--only-faults", numbers(faults.collect()));
        }
        if night.operations.len() != drawn.operations.len() {
            let operations = night.operations.iter().map(|operation| operation.number);
            add("--only-operations", numbers(operations.collect()));
        }
        if night.cast.0.len() != drawn.cast.0.len() {
            let visitors = night.cast.0.iter().map(|part| part.number);
            add("--only-visitors", numbers(visitors.collect()));
        }
        line
    }
}

fn length(ms: u64) -> String {
    if ms.is_multiple_of(1_000) { format!("{}s", ms / 1_000) } else { format!("{ms}ms") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Command, parse};

    fn nights(line: &str) -> Nights {
        let words = line.split_whitespace().map(|word| word.trim_matches('\'').into());
        let Ok(Command::Simulate(options)) = parse(words) else { panic!("this is fine: {line}") };
        assert!(options.nights.are_asked_for());
        Nights::new(&options.nights, &options.crowd)
    }

    #[test]
    fn the_printed_command_line_plays_the_same_night() {
        let all = nights(
            "vestibule-crowd simulate --seeds 7..9 --faults kill,cut --length 12s \
                          --visitors 20 --aws 0.5 --skip waits,presence",
        );
        assert_eq!((all.seeds.clone(), all.bounds.skipped.len()), (7..9, 2));
        let mut night = all.scenario(7);
        let whole = all.play(&night, false).unwrap().digest;
        assert_eq!(again(&all.command_line(&night)), whole);
        night.faults.truncate(1);
        night.operations.clear();
        night.cast.0.retain(|part| part.number % 3 == 1);
        night.length_ms = 9_000;
        let part = all.play(&night, false).unwrap().digest;
        assert_eq!(again(&all.command_line(&night)), part);
        assert_ne!(whole, part);
    }

    fn again(line: &str) -> u64 {
        let nights = nights(line);
        let seed = nights.seeds.start;
        assert_eq!(nights.seeds, seed..seed + 1);
        nights.play(&nights.scenario(seed), false).unwrap().digest
    }

    #[test]
    fn nights_have_a_crowd_of_their_own() {
        assert_eq!(nights("vestibule-crowd simulate --seeds 3").shape.visitors, 60);
        assert_eq!(nights("vestibule-crowd simulate --seeds 3 --visitors 9").shape.visitors, 9);
        assert_eq!(nights("vestibule-crowd simulate --seed 3 --faults none").shape.faults, []);
        let kinds = nights("vestibule-crowd simulate --seeds 3").shape.faults;
        assert_eq!(kinds, FaultKind::WITHSTOOD);
    }
}
