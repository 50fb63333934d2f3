//! The simulation as a test: the same seed twice, short nights by chance, every seed that ever failed,
//! and what is known to be wrong.
#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]

mod button;
mod clocks;
mod crowds;
mod defects;
mod drawn;
mod fairness;
mod ghosts;
mod guests;
mod held;
mod jumps;
mod late_leader;
mod limited;
mod night;
mod nights;
mod repeatable;
mod replays;
mod rewinds;
mod shares;
mod sweeps;

use std::collections::BTreeSet;

use vestibule_history::Bounds;
use vestibule_simulation::{Cast, Nights, Scenario, Seed, run};

fn bounds() -> Bounds {
    Nights::strict()
}

/// So many admissions and controllers, no room, nobody who comes, and nothing that goes wrong.
fn nothing_planned(seed: u64, services: (usize, usize)) -> Scenario {
    Scenario {
        seed: Seed(seed),
        length_ms: 0,
        services,
        regions: vec!["eu".to_owned()],
        rooms: Vec::new(),
        cast: Cast::default(),
        operations: Vec::new(),
        faults: Vec::new(),
        defect: None,
    }
}

/// The invariants that break in a scenario.
fn broken(scenario: &Scenario) -> BTreeSet<&'static str> {
    let outcome = run(scenario, &bounds(), false).unwrap();
    outcome.broken.iter().map(|broken| broken.invariant).collect()
}
