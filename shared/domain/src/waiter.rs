//! A waiting visitor: its place, as in its request id, and what its ticket remembers from one call
//! to the next. Request ids and tickets are sealed in `vestibule-token`.

use serde::{Deserialize, Serialize};

use crate::{Lease, accrued_hazard::AccruedHazard};

/// The highest queue number a request id can hold (36 bits: 68 thousand million visitors).
pub const MAX_QUEUE_NUMBER: u64 = (1 << 36) - 1;

/// A visitor's place. It is given at the join and stays the same until the room is reset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Place {
    /// The queue number: 1, 2, 3 … in order of arrival. 0 stands for a visitor let in without a
    /// number while the store was away (a room that fails open).
    pub number: u64,
    /// When the visitor joined, in seconds since 1970 on Redis's clock.
    pub entered_at: u32,
    /// The index of the region where the visitor joined.
    pub region: u8,
}

/// What the ticket of a waiting visitor holds. It is sealed in the ticket; none of it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiter {
    /// The place, as in the request id.
    pub place: Place,
    /// The last check-in, unix ms; 0: none yet.
    pub checked_in_at: u64,
    /// How long after it the visitor was told to poll again, ms.
    pub interval_ms: u32,
    /// The lease under which it counts as present.
    pub lease: Option<Lease>,
    /// Its share of the chances given in a random room.
    pub accrued_hazard: AccruedHazard,
}

// === impl Waiter ===

impl Waiter {
    /// A newcomer, who has not checked in yet. `lease` is the one under which the join script
    /// counted it, `hazard` the cumulative hazard of the room.
    #[must_use]
    pub fn new(place: Place, lease: Option<Lease>, hazard: u64) -> Self {
        let accrued_hazard = AccruedHazard::new(hazard);
        Self { place, checked_in_at: 0, interval_ms: 0, lease, accrued_hazard }
    }

    /// When its next check-in is due, unix ms.
    #[must_use]
    pub fn due_at(&self) -> u64 {
        let came_at = u64::from(self.place.entered_at) * 1000;
        self.checked_in_at.max(came_at) + u64::from(self.interval_ms)
    }
}
