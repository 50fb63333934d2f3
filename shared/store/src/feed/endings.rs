//! Sessions that ended before their time. They are pushed to every service, because the requests of
//! visitors inside pass without asking Redis. They are remembered until each of those visitors would
//! have to ask Redis again anyway.

use std::sync::{PoisonError, RwLock};

use rustc_hash::FxHashSet;
use serde::Deserialize;
use tokio::time::{Duration, Instant};
use vestibule_domain::{RoomId, settings::LONGEST_RECHECK_MS};

use crate::Ending;

/// How long an ended session is remembered, at least.
const REMEMBERED: Duration = Duration::from_millis(LONGEST_RECHECK_MS);

/// Ended sessions, as `leave.lua` pushes them.
#[derive(Debug, Deserialize)]
pub(super) struct Endings {
    pub(super) room: RoomId,
    pub(super) reset_epoch: u64,
    numbers: Vec<u64>,
    /// When the last token of each expires, unix seconds.
    #[serde(default)]
    expires_at: Vec<u64>,
    /// Those of them that were no sessions, but places in line that an operator has revoked. An older release tells
    /// none.
    #[serde(default)]
    pub(super) places: Vec<u64>,
}

/// The places of one room that operators have revoked, since its last reset.
#[derive(Debug, Default)]
pub(super) struct RevokedPlaces(RwLock<(u64, FxHashSet<u64>)>);

/// The ended sessions of one room, in two sets: the old one is dropped as a whole when the young one
/// replaces it.
#[derive(Debug)]
pub(super) struct Ended(RwLock<Sets>);

#[derive(Debug)]
struct Sets {
    reset_epoch: u64,
    young: FxHashSet<u64>,
    old: FxHashSet<u64>,
    swapped_at: Instant,
}

// === impl Endings ===

impl Endings {
    /// Each, with the end of its last token. An older release does not say that.
    pub(super) fn endings(&self) -> impl Iterator<Item = Ending> {
        let numbers = self.numbers.iter().zip(&self.expires_at);
        numbers.map(|(&number, &expires_at)| {
            let is_place = self.places.contains(&number);
            Ending { number, expires_at, is_place }
        })
    }
}

// === impl Ended ===

impl Ended {
    pub(super) fn new(now: Instant) -> Self {
        Self(RwLock::new(Sets {
            reset_epoch: 0,
            young: FxHashSet::default(),
            old: FxHashSet::default(),
            swapped_at: now,
        }))
    }

    pub(super) fn take(&self, endings: &Endings, now: Instant) {
        let mut sets = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if sets.reset_epoch != endings.reset_epoch {
            sets.begin(endings.reset_epoch);
        }
        sets.extend(&endings.numbers, now);
    }

    /// One of an epoch that may be over by now.
    pub(super) fn take_one(&self, reset_epoch: u64, number: u64, now: Instant) {
        let mut sets = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if sets.reset_epoch < reset_epoch {
            sets.begin(reset_epoch);
        }
        if sets.reset_epoch == reset_epoch {
            sets.extend(&[number], now);
        }
    }

    pub(super) fn contains(&self, reset_epoch: u64, number: u64) -> bool {
        let sets = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let known = sets.young.contains(&number) || sets.old.contains(&number);
        known && sets.reset_epoch == reset_epoch
    }
}

// === impl Sets ===

impl Sets {
    /// Forgets what was of another epoch.
    fn begin(&mut self, reset_epoch: u64) {
        self.young.clear();
        self.old.clear();
        self.reset_epoch = reset_epoch;
    }

    fn extend(&mut self, numbers: &[u64], now: Instant) {
        if now.saturating_duration_since(self.swapped_at) > REMEMBERED {
            self.old = std::mem::take(&mut self.young);
            self.swapped_at = now;
        }
        self.young.extend(numbers);
    }
}

// === impl RevokedPlaces ===

impl RevokedPlaces {
    /// Takes in such numbers of this epoch.
    pub(super) fn take(&self, reset_epoch: u64, numbers: impl IntoIterator<Item = u64>) {
        let mut numbers = numbers.into_iter().peekable();
        if numbers.peek().is_none() {
            return;
        }
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if known.0 < reset_epoch {
            *known = (reset_epoch, FxHashSet::default());
        }
        if known.0 == reset_epoch {
            known.1.extend(numbers);
        }
    }

    pub(super) fn contains(&self, reset_epoch: u64, number: u64) -> bool {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        known.0 == reset_epoch && known.1.contains(&number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endings(reset_epoch: u64, numbers: &[u64]) -> Endings {
        Endings {
            room: "sale".parse().unwrap(),
            reset_epoch,
            numbers: numbers.to_vec(),
            expires_at: Vec::new(),
            places: Vec::new(),
        }
    }

    #[test]
    fn an_ended_session_is_remembered_for_long_enough_and_then_forgotten() {
        let (begin, late) = (Instant::now(), REMEMBERED + Duration::from_millis(1));
        let ended = Ended::new(begin);
        ended.take(&endings(7, &[1, 2]), begin);
        assert!(ended.contains(7, 2));
        assert!(!ended.contains(7, 3) && !ended.contains(8, 2));
        ended.take(&endings(7, &[10]), begin + late);
        assert!(ended.contains(7, 1), "not long ago enough to be sure");
        ended.take(&endings(7, &[11]), begin + 2 * late);
        assert!(!ended.contains(7, 1) && ended.contains(7, 10));
    }

    #[test]
    fn what_was_ended_here_is_known_at_once_and_forgets_nothing_of_a_later_epoch() {
        let now = Instant::now();
        let ended = Ended::new(now);
        ended.take_one(7, 1, now);
        ended.take(&endings(7, &[2]), now);
        assert!(ended.contains(7, 1) && ended.contains(7, 2));
        ended.take_one(6, 3, now);
        assert!(ended.contains(7, 1) && !ended.contains(6, 3));
        ended.take_one(8, 4, now);
        assert!(ended.contains(8, 4) && !ended.contains(7, 1));
    }

    #[test]
    fn a_place_stays_revoked_until_the_room_is_reset() {
        let revoked = RevokedPlaces::default();
        revoked.take(7, [3]);
        revoked.take(7, []);
        revoked.take(6, [4]);
        assert!(revoked.contains(7, 3) && !revoked.contains(7, 4) && !revoked.contains(6, 4));
        revoked.take(8, [5]);
        assert!(!revoked.contains(7, 3) && !revoked.contains(8, 3) && revoked.contains(8, 5));
    }

    #[test]
    fn a_reset_begins_anew() {
        let now = Instant::now();
        let ended = Ended::new(now);
        ended.take(&endings(7, &[1]), now);
        ended.take(&endings(8, &[2]), now);
        assert!(!ended.contains(7, 1) && !ended.contains(8, 1) && ended.contains(8, 2));
    }
}
