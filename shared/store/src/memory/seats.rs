//! Which seats this service has seen taken, and which sessions it has heard to have ended: so that a Redis that went
//! back can be told. Both are remembered until the last token of the session has expired.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// A seat that was taken or renewed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seat {
    /// Whose.
    pub number: u64,
    /// Its record, as `pack_record` in `scripts/lib/seats.lua` writes it.
    pub record: String,
    /// When its token expires, unix seconds.
    pub expires_at: u64,
    /// The generation and `seq` of the state in which it was seen.
    pub seen_at: (u32, u64),
}

/// A session that was ended, or a place in line that an operator has revoked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ending {
    /// Whose.
    pub number: u64,
    /// When its last token expires, unix seconds; of a place, until when it is remembered.
    pub expires_at: u64,
    /// Whether it was a place. An older release does not say so.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_place: bool,
}

/// The seats and endings of a room, since its last reset.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seats {
    reset_epoch: u64,
    taken: FxHashMap<u64, Seat>,
    ended: FxHashMap<u64, Ending>,
    /// With so many, those that have expired are looked for.
    sweep_at: usize,
}

/// Fewer than this are never looked through.
const FEW: usize = 1_024;

// === impl Ending ===

impl Ending {
    /// That of a session.
    #[must_use]
    pub fn of_session(number: u64, expires_at: u64) -> Self {
        Self { number, expires_at, is_place: false }
    }

    /// That of a place in line.
    #[must_use]
    pub fn of_place(number: u64, expires_at: u64) -> Self {
        Self { number, expires_at, is_place: true }
    }

    /// What two that have heard of it say together.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            expires_at: self.expires_at.max(other.expires_at),
            is_place: self.is_place || other.is_place,
            ..self
        }
    }
}

// === impl Seats ===

impl Seats {
    /// Takes in seats of this epoch.
    pub(super) fn take(&mut self, reset_epoch: u64, seats: impl IntoIterator<Item = Seat>) {
        if !self.begin(reset_epoch) {
            return;
        }
        for seat in seats {
            // Answers come in any order.
            let is_newer = |known: &Seat| known.seen_at <= seat.seen_at;
            if self.taken.get(&seat.number).is_none_or(is_newer) {
                self.taken.insert(seat.number, seat);
            }
        }
    }

    /// Takes in endings of this epoch.
    pub(super) fn end(&mut self, reset_epoch: u64, endings: impl IntoIterator<Item = Ending>) {
        if self.begin(reset_epoch) {
            for ending in endings {
                self.taken.remove(&ending.number);
                let known = self.ended.entry(ending.number).or_insert(ending);
                *known = known.or(ending);
            }
        }
    }

    /// Whether it is known that a session of this epoch was ended.
    pub(super) fn has_ended(&self, reset_epoch: u64, number: u64) -> bool {
        reset_epoch == self.reset_epoch && self.ended.contains_key(&number)
    }

    /// Forgets what no longer matters at `now`, unix seconds; now and then.
    pub(super) fn forget_expired(&mut self, now: u64) {
        if self.taken.len() + self.ended.len() < self.sweep_at.max(FEW) {
            return;
        }
        self.taken.retain(|_, seat| seat.expires_at >= now);
        self.ended.retain(|_, ending| ending.expires_at >= now);
        self.sweep_at = 2 * (self.taken.len() + self.ended.len());
    }

    /// The epoch that they are of.
    pub(crate) fn reset_epoch(&self) -> u64 {
        self.reset_epoch
    }

    /// The seats, by number.
    pub(crate) fn taken(&self) -> Vec<Seat> {
        let mut taken: Vec<_> = self.taken.values().cloned().collect();
        taken.sort_unstable_by_key(|seat| seat.number);
        taken
    }

    /// The endings, by number.
    pub(crate) fn ended(&self) -> Vec<Ending> {
        let mut ended: Vec<_> = self.ended.values().copied().collect();
        ended.sort_unstable_by_key(|ending| ending.number);
        ended
    }

    /// Whether something of this epoch counts. A later epoch than all before begins anew.
    fn begin(&mut self, reset_epoch: u64) -> bool {
        if reset_epoch > self.reset_epoch {
            *self = Self { reset_epoch, ..Self::default() };
        }
        reset_epoch == self.reset_epoch
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seat(number: u64, expires_at: u64) -> Seat {
        Seat { number, record: String::new(), expires_at, seen_at: (1, 1) }
    }

    #[test]
    fn what_ended_is_taken_no_more_and_a_reset_begins_anew() {
        let mut seats = Seats::default();
        seats.take(7, [seat(3, 50), seat(1, 60)]);
        seats.end(7, [Ending::of_session(3, 50)]);
        assert_eq!((seats.taken(), seats.ended()[0].number), (vec![seat(1, 60)], 3));
        seats.take(6, [seat(9, 70)]);
        assert_eq!(seats.taken().len(), 1, "of before a reset");
        seats.end(8, []);
        assert!(seats.taken().is_empty() && seats.ended().is_empty());
        assert_eq!(seats.reset_epoch(), 8);
    }

    #[test]
    fn what_has_expired_is_forgotten_in_time() {
        let mut seats = Seats::default();
        seats.take(7, (0..1_024).map(|number| seat(number, number)));
        seats.forget_expired(1_000);
        assert_eq!(seats.taken().len(), 24);
    }
}
