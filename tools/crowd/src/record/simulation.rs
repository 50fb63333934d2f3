//! What only a simulation knows: how it was made, and what no visitor could see.

use std::collections::BTreeMap;

use serde::Serialize;

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
    /// Newcomers who were made to wait although a slot was free and nobody else waited.
    pub(crate) queued_while_a_slot_was_free: u64,
    /// Newcomers by region.
    pub(crate) regions: BTreeMap<String, RegionFigures>,
    /// Invariants that did not hold, as sentences.
    pub(crate) broken: Vec<String>,
}

/// How the newcomers of a region fared.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(crate) struct RegionFigures {
    /// Came.
    pub(crate) arrived: u64,
    /// Entered at once.
    pub(crate) admitted_at_once: u64,
    /// Of the seats taken at once: from the region's own slots …
    pub(crate) own_slots: u64,
    /// … from those open to all …
    pub(crate) anywhere_slots: u64,
    /// … and from what other regions left unused.
    pub(crate) lent_slots: u64,
}
