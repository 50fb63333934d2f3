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
use vestibule_simulation::{Scenario, run};

/// All visitors of a simulation write the history.
fn bounds() -> Bounds {
    // Somebody who was told an hour and had a minute was told nonsense.
    Bounds { has_all_visitors: true, most_wait_error: Some(50.0), ..Bounds::default() }
}

/// The invariants that break in a scenario.
fn broken(scenario: &Scenario) -> BTreeSet<&'static str> {
    let outcome = run(scenario, &bounds(), false).unwrap();
    outcome.broken.iter().map(|broken| broken.invariant).collect()
}
