//! What only a simulation knows: how it was made, and what no visitor could see.

use std::collections::BTreeMap;

use serde::Serialize;
use vestibule_simulation::RegionFigures;

/// What only a simulation knows.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Simulation {
    /// How long it took, in real seconds.
    pub(crate) real_seconds: f64,
    /// Commands that Redis carried out.
    pub(crate) redis_calls: u64,
    /// Moments of visitors that were simulated.
    pub(crate) moments: u64,
    /// How exact times are, in seconds.
    pub(crate) step_seconds: f64,
    /// How often the leader looked at the room, in seconds.
    pub(crate) tick_seconds: f64,
    /// Newcomers who were made to wait although a slot was free and nobody else waited; not known in
    /// hostile company, which waits too.
    pub(crate) queued_while_a_slot_was_free: Option<u64>,
    /// Newcomers by region.
    pub(crate) regions: BTreeMap<String, RegionFigures>,
    /// Invariants that did not hold, as sentences.
    pub(crate) broken: Vec<String>,
}
