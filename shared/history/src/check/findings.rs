//! Where checks put what they find.

use vestibule_domain::RoomId;

use crate::{Event, Invariant, Violation};

/// Takes violations of one room at one moment.
#[derive(Debug)]
pub(crate) struct Findings<'a> {
    room: Option<RoomId>,
    at_ms: u64,
    violations: &'a mut Vec<Violation>,
}

// === impl Findings ===

impl<'a> Findings<'a> {
    pub(crate) fn new(
        room: Option<RoomId>,
        at_ms: u64,
        violations: &'a mut Vec<Violation>,
    ) -> Self {
        Self { room, at_ms, violations }
    }

    /// `invariant` does not hold: `what` is wrong, as these events show.
    pub(crate) fn add(&mut self, invariant: Invariant, what: String, evidence: &[&Event]) {
        self.violations.push(Violation {
            invariant,
            at_ms: self.at_ms,
            room: self.room.clone(),
            what,
            evidence: evidence.iter().map(ToString::to_string).collect(),
        });
    }
}
