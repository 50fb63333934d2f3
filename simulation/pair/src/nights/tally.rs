//! What came of all nights together.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::Outcome;

/// What came of all nights together.
#[derive(Debug, Default, Serialize)]
pub struct Tally {
    /// Nights that were played.
    pub nights: u64,
    /// Virtual time in them, in seconds.
    pub virtual_seconds: f64,
    /// Real time, in seconds.
    pub real_seconds: f64,
    /// Visitors who entered.
    pub entries: u64,
    /// Commands that Redis carried out.
    pub commands: u64,
    /// The seeds in whose nights an invariant broke, by invariant.
    pub broken: BTreeMap<&'static str, Vec<u64>>,
}

// === impl Tally ===

impl Tally {
    /// Adds a night.
    #[expect(clippy::cast_precision_loss, reason = "nights are far shorter than 2^53 ms")]
    pub(super) fn add(&mut self, seed: u64, length_ms: u64, outcome: &Outcome) {
        self.nights += 1;
        self.virtual_seconds += length_ms as f64 / 1000.0;
        self.entries += outcome.figures.entries;
        self.commands += outcome.commands;
        for broken in &outcome.broken {
            let seeds = self.broken.entry(broken.invariant).or_default();
            // Threads finish in any order.
            if let Err(place) = seeds.binary_search(&seed) {
                seeds.insert(place, seed);
            }
        }
    }

    /// The lowest seed in whose night something broke.
    #[must_use]
    pub fn first_broken(&self) -> Option<u64> {
        self.broken.values().filter_map(|seeds| seeds.first()).min().copied()
    }

    /// In how many nights something broke.
    #[must_use]
    pub fn broken_nights(&self) -> usize {
        self.broken.values().flatten().collect::<BTreeSet<_>>().len()
    }
}

#[cfg(test)]
mod tests {
    use vestibule_history::Figures;

    use super::*;
    use crate::Broken;

    #[test]
    fn counts_nights_and_names_seeds_once() {
        let broken = |invariant| Broken { at_ms: 5, invariant, what: String::new() };
        let outcome = |broken| Outcome {
            broken,
            figures: Figures { entries: 3, ..Figures::default() },
            digest: 0,
            commands: 10,
            trace: Vec::new(),
        };
        let mut tally = Tally::default();
        tally.add(7, 30_000, &outcome(vec![broken("rate"), broken("rate"), broken("waits")]));
        tally.add(4, 30_000, &outcome(vec![broken("rate")]));
        tally.add(5, 30_000, &outcome(Vec::new()));
        assert_eq!((tally.first_broken(), &tally.broken["rate"]), (Some(4), &vec![4, 7]));
        assert_eq!((tally.nights, tally.broken_nights(), tally.entries), (3, 2, 9));
    }
}
