//! What came of all nights together.

use std::{collections::BTreeMap, fmt::Write};

use serde::Serialize;
use vestibule_simulation::Outcome;

use crate::crowd::{duration::human, number::real64};

/// Failing seeds that a summary names per invariant.
const NAMED: usize = 10;

/// What came of all nights together.
#[derive(Debug, Default, Serialize)]
pub(super) struct Tally {
    /// Nights that were played.
    pub(super) nights: u64,
    /// Virtual time in them, in seconds.
    virtual_seconds: f64,
    /// Real time, in seconds.
    pub(super) real_seconds: f64,
    /// Visitors who entered.
    entries: u64,
    /// Commands that Redis carried out.
    commands: u64,
    /// The seeds in whose nights an invariant broke, by invariant.
    pub(super) broken: BTreeMap<&'static str, Vec<u64>>,
}

// === impl Tally ===

impl Tally {
    /// Adds a night.
    pub(super) fn add(&mut self, seed: u64, length_ms: u64, outcome: &Outcome) {
        self.nights += 1;
        self.virtual_seconds += real64(length_ms) / 1000.0;
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
    pub(super) fn first_broken(&self) -> Option<u64> {
        self.broken.values().filter_map(|seeds| seeds.first()).min().copied()
    }

    /// How far it all is, in a sentence.
    pub(super) fn sentence(&self, all: u64) -> String {
        let broken: std::collections::BTreeSet<_> = self.broken.values().flatten().collect();
        format!("{} of {all} nights, something broke in {}", self.nights, broken.len())
    }

    /// The summary for people.
    pub(super) fn text(&self) -> String {
        let pace = self.virtual_seconds / self.real_seconds.max(0.001);
        let mut out = format!(
            "{} nights, {} of virtual time in {}: {pace:.1} virtual minutes per minute; {} entries, \
             {} commands\n",
            self.nights,
            human(self.virtual_seconds),
            human(self.real_seconds),
            self.entries,
            self.commands,
        );
        for (invariant, seeds) in &self.broken {
            let named: Vec<_> = seeds.iter().take(NAMED).map(ToString::to_string).collect();
            let more = if seeds.len() > NAMED { ", …" } else { "" };
            // Writing to a string does not fail.
            let _ = writeln!(
                out,
                "BROKEN: {invariant} in {} nights: seeds {}{more}",
                seeds.len(),
                named.join(", ")
            );
        }
        if self.broken.is_empty() {
            out.push_str("Nothing broke.\n");
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use vestibule_history::Figures;
    use vestibule_simulation::Broken;

    use super::*;

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
        let mut tally = Tally { real_seconds: 1.0, ..Tally::default() };
        tally.add(7, 30_000, &outcome(vec![broken("rate"), broken("rate"), broken("waits")]));
        tally.add(4, 30_000, &outcome(vec![broken("rate")]));
        tally.add(5, 30_000, &outcome(Vec::new()));
        assert_eq!((tally.first_broken(), &tally.broken["rate"]), (Some(4), &vec![4, 7]));
        assert_eq!(tally.sentence(9), "3 of 9 nights, something broke in 2");
        assert!(
            tally.text().contains("90 s of virtual time in 1 s: 90.0 virtual"),
            "{}",
            tally.text()
        );
        assert!(tally.text().contains("BROKEN: rate in 2 nights: seeds 4, 7\n"));
    }
}
