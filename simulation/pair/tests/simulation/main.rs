//! The simulation as a test: the same seed twice, short nights by chance, every seed that ever failed,
//! and what is known to be wrong.
#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]

mod clocks;
mod crowds;
mod defects;
mod fairness;
mod ghosts;
mod guests;
mod late_leader;
mod night;
mod nights;
mod repeatable;
mod replays;
mod rewinds;
mod shares;

use std::collections::BTreeSet;

use vestibule_history::Bounds;
use vestibule_simulation::{Nights, Scenario, run};

fn bounds() -> Bounds {
    Nights::strict()
}

/// The invariants that break in a scenario.
fn broken(scenario: &Scenario) -> BTreeSet<&'static str> {
    let outcome = run(scenario, &bounds(), false).unwrap();
    outcome.broken.iter().map(|broken| broken.invariant).collect()
}
