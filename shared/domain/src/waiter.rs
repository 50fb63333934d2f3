//! A waiting visitor: its place, as in its request id, and what its ticket remembers from one call
//! to the next. Request ids and tickets are sealed in `vestibule-token`.

use serde::{Deserialize, Serialize};

use crate::accrued_hazard::AccruedHazard;

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
    /// The index of the region where the visitor joined, and in the two highest bits how: see [`Self::marked`].
    pub region: u8,
}

/// What marks places that were given by the visitors' calls. Older releases did not mark them.
const BY_VISITORS_CALLS: u8 = 0x80;
/// What marks places whose request id is a UUID of version 4. Of all others it has the older form, for good: it is made of
/// the place each time it is told, and who has been told one is told no other.
const TOLD_AS_UUID: u8 = 0x40;

/// What the ticket of a waiting visitor holds. It is sealed in the ticket; none of it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiter {
    /// The place, as in the request id.
    pub place: Place,
    /// When it was last heard, unix ms; 0: not since it came. In a room with an order this is noted only
    /// now and then, so that a check-in does not change the ticket: see [`Self::must_note`].
    pub heard_at: u64,
    /// How long after it the visitor was told to poll again, ms.
    pub interval_ms: u32,
    /// Its share of the chances given in a random room.
    pub accrued_hazard: AccruedHazard,
}

/// How much longer than a room's grace time a place may be kept, because not every check-in is noted: so
/// many times shorter than the grace time.
const GRACE_PER_NOTE: u64 = 5;

// === impl Place ===

impl Place {
    /// The region of a place, by the index of the region where it was given (a label, of which the low bits are kept), by
    /// whether the visitors' calls gave it, and whether its request id is a UUID.
    #[must_use]
    pub fn marked(index: u8, visitors_calls: bool, is_uuid: bool) -> u8 {
        let mark = |mark, is_so: bool| if is_so { mark } else { 0 };
        index & !(BY_VISITORS_CALLS | TOLD_AS_UUID)
            | mark(BY_VISITORS_CALLS, visitors_calls)
            | mark(TOLD_AS_UUID, is_uuid)
    }

    /// Whether its request id is a UUID of version 4.
    #[must_use]
    pub fn is_told_as_uuid(&self) -> bool {
        self.region & TOLD_AS_UUID != 0
    }

    /// Whether it was given by the visitors' calls: then it is of no use for the AWS-style ones, whose sessions last for
    /// as long as their tokens, whether their visitors are there or not.
    #[must_use]
    pub fn is_of_visitors_calls(&self) -> bool {
        self.region & BY_VISITORS_CALLS != 0
    }
}

// === impl Waiter ===

impl Waiter {
    /// A newcomer, who has not checked in yet. `hazard` is the cumulative hazard of the room.
    #[must_use]
    pub fn new(place: Place, hazard: u64) -> Self {
        let accrued_hazard = AccruedHazard::new(hazard);
        Self { place, heard_at: 0, interval_ms: 0, accrued_hazard }
    }

    /// When its next check-in is due after the one that was noted, unix ms.
    #[must_use]
    pub fn due_at(&self) -> u64 {
        self.last_heard() + u64::from(self.interval_ms)
    }

    /// Whether a check-in at `now_ms`, which is answered with `interval_ms`, must be noted, in a room that
    /// keeps a place for `grace_ms`: the next one may come later than a note lasts.
    #[must_use]
    pub fn must_note(&self, now_ms: u64, interval_ms: u32, grace_ms: u64) -> bool {
        self.heard_at == 0 || now_ms + u64::from(interval_ms) > self.noted_until(grace_ms)
    }

    /// Whether it was away for longer than `grace_ms`, at `now_ms`. Time until `excused_ms` does not count.
    /// A place may be kept for longer, by a fifth of that time, but is never given up sooner.
    #[must_use]
    pub fn is_away_too_long(&self, now_ms: u64, excused_ms: u64, grace_ms: u64) -> bool {
        self.noted_until(grace_ms).max(excused_ms) + grace_ms < now_ms
    }

    /// Until when its next check-in is due for certain, unix ms.
    fn noted_until(&self, grace_ms: u64) -> u64 {
        self.due_at().max(self.last_heard() + grace_ms / GRACE_PER_NOTE)
    }

    fn last_heard(&self) -> u64 {
        self.heard_at.max(u64::from(self.place.entered_at) * 1000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_marked_on_a_place_does_not_depend_on_its_region() {
        for index in [0, 1, 63, 64, 200, u8::MAX] {
            for (by_visitors_calls, is_uuid) in
                [(false, false), (false, true), (true, false), (true, true)]
            {
                let region = Place::marked(index, by_visitors_calls, is_uuid);
                let place = Place { number: 1, entered_at: 1, region };
                assert_eq!(place.is_of_visitors_calls(), by_visitors_calls, "{index}");
                assert_eq!(place.is_told_as_uuid(), is_uuid, "{index}");
            }
        }
    }
}
