//! Someone who waits, as its ticket remembers it from one call to the next.

use serde::{Deserialize, Serialize};

use crate::{Lease, Place, accrued_hazard::AccruedHazard};

/// A waiting visitor's memory. It is sealed in the ticket; nothing of it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiter {
    /// The place, as in the request id.
    pub place: Place,
    /// The last check-in, unix ms; 0: none yet.
    pub checked_in_at: u64,
    /// How long after it the visitor was told to come back, ms.
    pub interval_ms: u32,
    /// The presence it holds.
    pub lease: Option<Lease>,
    /// What it was credited of the chances of a random room.
    pub accrued_hazard: AccruedHazard,
}

// === impl Waiter ===

impl Waiter {
    /// A newcomer, who has not checked in yet. `lease` is what the join script counted it under,
    /// `hazard` the room's.
    #[must_use]
    pub fn new(place: Place, lease: Option<Lease>, hazard: u64) -> Self {
        let accrued_hazard = AccruedHazard::begun(hazard);
        Self { place, checked_in_at: 0, interval_ms: 0, lease, accrued_hazard }
    }

    /// When it is expected, unix ms.
    #[must_use]
    pub fn due_at(&self) -> u64 {
        let came_at = u64::from(self.place.entered_at) * 1000;
        self.checked_in_at.max(came_at) + u64::from(self.interval_ms)
    }
}
