//! Who honestly waits, as a simulation knows it: the truth that no service has. By it, two promises are
//! checked that the history of a real run cannot show: no seat stands empty while people wait who do as
//! they are told, and nobody of them is left behind by those who came later.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::broken::Broken;

/// How long seats may stand empty, ms, while somebody waits and nobody enters.
const EMPTY_MS: u64 = 20_000;
/// How much later than somebody who came after it an honest visitor may enter, ms.
const BEHIND_MS: u64 = 30_000;
/// How late an honest visitor may ask, ms: it may be sent away by a service that is busy.
const SLACK_MS: u64 = 3_000;

/// The honest visitors of one room. Cloning is cheap.
#[derive(Debug, Clone, Default)]
pub(crate) struct Census(Arc<Mutex<Inner>>);

#[derive(Debug, Default)]
struct Inner {
    /// Position → the visitor who waits there.
    waiting: BTreeMap<u64, Waiting>,
    /// Positions whose networks had their seats: no seat is free for them, whatever they are told.
    kept_out: BTreeSet<u64>,
    /// When somebody entered, and from which position.
    entered: VecDeque<(u64, u64)>,
    entries: u64,
    /// Since when seats have stood empty, and the entries until then.
    empty_since: Option<(u64, u64)>,
}

#[derive(Debug, Clone, Copy)]
struct Waiting {
    since_ms: u64,
    due_ms: u64,
}

// === impl Census ===

impl Census {
    /// An honest visitor was told to wait at `position`, and to ask again after `next_ms`.
    pub(crate) fn waits(&self, now_ms: u64, position: u64, next_ms: u64) {
        let mut inner = self.lock();
        if inner.kept_out.contains(&position) {
            return;
        }
        let due_ms = now_ms + next_ms + SLACK_MS;
        let waiting = inner.waiting.entry(position).or_insert(Waiting { since_ms: now_ms, due_ms });
        if waiting.due_ms < now_ms {
            // It did not do as it was told: it counts from now on.
            waiting.since_ms = now_ms;
        }
        waiting.due_ms = due_ms;
    }

    /// The network of the visitor at `position` has its seats: from now on nothing is promised to it.
    pub(crate) fn is_kept_out(&self, position: u64) {
        let mut inner = self.lock();
        inner.waiting.remove(&position);
        inner.kept_out.insert(position);
    }

    /// The visitor at `position` waits no more.
    pub(crate) fn gone(&self, position: u64) {
        self.lock().waiting.remove(&position);
    }

    /// Somebody entered from `position`, honest or not. Returns what that breaks, if order counts.
    pub(crate) fn enters(&self, now_ms: u64, position: u64, in_order: bool) -> Option<Broken> {
        let mut inner = self.lock();
        inner.entries += 1;
        let waited = inner.waiting.remove(&position);
        let overtaken = waited.and_then(|waited| inner.overtaken(now_ms, position, waited));
        inner.entered.push_back((now_ms, position));
        while inner.entered.front().is_some_and(|(at_ms, _)| at_ms + 4 * BEHIND_MS < now_ms) {
            inner.entered.pop_front();
        }
        let (at_ms, other) = overtaken.filter(|_| in_order)?;
        let by_ms = now_ms - at_ms;
        let what = format!("position {position} enters {by_ms} ms after position {other}");
        Some(Broken { at_ms: now_ms, invariant: "left behind", what })
    }

    /// Looks whether `free` seats stand empty; `None`: it is not known, or nobody may enter.
    pub(crate) fn look(&self, now_ms: u64, free: Option<u64>) -> Option<Broken> {
        let mut inner = self.lock();
        let waits = |waiting: &&Waiting| waiting.due_ms >= now_ms;
        let there = inner.waiting.values().filter(waits).count();
        // Those who come one after the other have each waited for a part of the time only.
        let waits_since = inner.waiting.values().filter(waits).map(|one| one.since_ms).min();
        let entries = inner.entries;
        let stands_empty = there > 0 && free.is_some_and(|free| free > 0);
        inner.empty_since = match inner.empty_since {
            Some((since_ms, before)) if stands_empty && before == entries => {
                Some((since_ms, before))
            }
            _ if stands_empty => Some((now_ms, entries)),
            _ => None,
        };
        let (since_ms, _) = inner.empty_since?;
        if now_ms < since_ms.max(waits_since?) + EMPTY_MS {
            return None;
        }
        inner.empty_since = None;
        let free = free.unwrap_or(0);
        let what = format!("{free} seats stand empty for {EMPTY_MS} ms while {there} people wait");
        Some(Broken { at_ms: now_ms, invariant: "empty seats", what })
    }

    /// The room began anew: nothing follows from what was before.
    pub(crate) fn forget(&self) {
        *self.lock() = Inner::default();
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// === impl Inner ===

impl Inner {
    /// The first who entered from behind `position` while somebody waited there, too long ago.
    fn overtaken(&self, now_ms: u64, position: u64, waited: Waiting) -> Option<(u64, u64)> {
        let behind = |(at_ms, other): &&(u64, u64)| *other > position && *at_ms >= waited.since_ms;
        let first = self.entered.iter().find(behind)?;
        (first.0 + BEHIND_MS < now_ms).then_some(*first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seats_may_stand_empty_for_a_while_only() {
        let census = Census::default();
        census.waits(0, 7, 100_000);
        assert!(census.look(1_000, Some(2)).is_none());
        assert!(census.look(15_000, Some(2)).is_none());
        assert_eq!(census.look(21_000, Some(2)).unwrap().invariant, "empty seats");
        census.enters(22_000, 6, true);
        assert!(census.look(23_000, Some(2)).is_none());
        assert!(census.look(44_000, None).is_none(), "the room is held");
    }

    #[test]
    fn seats_stand_empty_for_somebody_only_as_long_as_it_waits() {
        let census = Census::default();
        census.waits(0, 7, 100_000);
        assert!(census.look(1_000, Some(2)).is_none());
        census.waits(18_000, 8, 100_000);
        census.gone(7);
        assert!(census.look(25_000, Some(2)).is_none());
        assert_eq!(census.look(38_000, Some(2)).unwrap().invariant, "empty seats");
    }

    #[test]
    fn whoever_does_as_told_is_not_left_behind() {
        let census = Census::default();
        census.waits(0, 7, 60_000);
        assert!(census.enters(1_000, 9, true).is_none());
        let broken = census.enters(40_000, 7, true).unwrap();
        assert_eq!(broken.invariant, "left behind");
        census.waits(41_000, 8, 1_000);
        census.enters(42_000, 10, true);
        census.waits(90_000, 8, 1_000);
        assert!(census.enters(91_000, 8, true).is_none(), "it did not ask as it was told");
    }
}
