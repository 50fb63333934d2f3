//! One room in a service's memory: its last snapshot, and the highest that the service has seen.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use arc_swap::{ArcSwap, ArcSwapOption};
use tokio::time::Instant;
use vestibule_domain::{RoomSnapshot, draw::DrawRecord, schedule::Program};

use super::{
    endings::{Ended, Endings},
    highest::{Highest, Seen},
};
use crate::{Clock, Testimony};

/// A room as this service knows it.
#[derive(Debug)]
pub struct KnownRoom {
    last: ArcSwap<Received>,
    plans: ArcSwapOption<Plans>,
    ended: Ended,
    highest: Highest,
    /// Whether something has been seen that no testimony has told yet.
    untold: AtomicBool,
    clock: Clock,
}

/// What is planned for a room, and what was published of its draws: kept, so that it can be
/// restored.
#[derive(Debug, Clone, PartialEq)]
pub struct Plans {
    /// Settings and events.
    pub program: Program,
    /// What is published of the draws, by draw id.
    pub draws: BTreeMap<String, DrawRecord>,
}

#[derive(Debug)]
struct Received {
    snapshot: Arc<RoomSnapshot>,
    at: Instant,
}

// === impl KnownRoom ===

impl KnownRoom {
    pub(super) fn new(snapshot: RoomSnapshot, clock: Clock) -> Self {
        let highest = Highest::new(seen_in(&snapshot));
        let received = Received { snapshot: Arc::new(snapshot), at: Instant::now() };
        Self {
            last: ArcSwap::from_pointee(received),
            plans: ArcSwapOption::empty(),
            ended: Ended::new(Instant::now()),
            highest,
            untold: true.into(),
            clock,
        }
    }

    /// The last snapshot.
    #[must_use]
    pub fn snapshot(&self) -> Arc<RoomSnapshot> {
        Arc::clone(&self.last.load().snapshot)
    }

    /// Redis's time in ms, as far as this service can tell: that of the last snapshot, and how
    /// long ago it came by this host's steady clock.
    #[must_use]
    pub fn now_ms(&self) -> u64 {
        match &self.clock {
            Clock::Manual(clock) => clock.now_ms(),
            Clock::Server => {
                let last = self.last.load();
                let since = last.at.elapsed().as_millis();
                last.snapshot.now_ms + u64::try_from(since).unwrap_or(0)
            }
        }
    }

    /// What is planned for the room, as far as this service keeps it.
    #[must_use]
    pub fn plans(&self) -> Option<Arc<Plans>> {
        self.plans.load_full()
    }

    /// Whether a session was ended before its time, as far as this service has heard. Who has not
    /// been seen by Redis for [`vestibule_domain::front::LONGEST_UNSEEN_MS`] is to ask it instead.
    #[must_use]
    pub fn has_ended(&self, reset_epoch: u64, number: u64) -> bool {
        self.ended.contains(reset_epoch, number)
    }

    pub(super) fn take_endings(&self, endings: &Endings) {
        self.ended.take(endings, Instant::now());
    }

    /// Whether the room's settings or events have changed since they were read.
    pub(super) fn lacks_program(&self) -> bool {
        let version = self.snapshot().program_version;
        self.plans().is_none_or(|plans| plans.program.version != version)
    }

    /// Whether the room has changed since its plans were read.
    pub(super) fn lacks_plans(&self) -> bool {
        let drawn = self.snapshot().draws.len();
        self.lacks_program() || self.plans().is_none_or(|plans| plans.draws.len() < drawn)
    }

    /// Keeps what is planned.
    pub(super) fn keep_plans(&self, plans: Plans) {
        self.plans.store(Some(Arc::new(plans)));
    }

    /// How long ago the last snapshot came.
    #[must_use]
    pub fn age(&self) -> std::time::Duration {
        self.last.load().at.elapsed()
    }

    /// Takes note of counters that came with an answer of Redis.
    pub fn saw(&self, seen: Seen) {
        if self.highest.take(seen) {
            self.untold.store(true, Ordering::Relaxed);
        }
    }

    /// The highest counters that this service has seen.
    #[must_use]
    pub fn highest(&self) -> Seen {
        self.highest.get()
    }

    /// Takes in a snapshot, unless it is older than the last.
    pub(super) fn receive(&self, snapshot: RoomSnapshot) {
        let last = Arc::clone(&self.last.load().snapshot);
        let order = |s: &RoomSnapshot| (s.reset_epoch, s.generation, s.now_ms);
        if order(&snapshot) < order(&last) {
            return;
        }
        self.saw(seen_in(&snapshot));
        self.last.store(Arc::new(Received { snapshot: Arc::new(snapshot), at: Instant::now() }));
    }

    /// What this service has seen, if there is news since the last time it was asked, or in any
    /// case with `anyway`.
    pub(super) fn testimony(&self, anyway: bool) -> Option<Testimony> {
        if !self.untold.swap(false, Ordering::Relaxed) && !anyway {
            return None;
        }
        let (seen, last) = (self.highest.get(), self.snapshot());
        // Of those who were inside at the last snapshot none is after a reset.
        let known = if last.reset_epoch == seen.reset_epoch { Some(&last) } else { None };
        let (inside, admitted) =
            known.map_or((0, 0), |last| (last.active + last.phantom, last.admitted));
        Some(Testimony {
            reset_epoch: seen.reset_epoch,
            queue_counter: seen.queue_counter,
            serving_counter: seen.serving_counter,
            admitted: seen.admitted,
            active: inside + seen.admitted.saturating_sub(admitted),
        })
    }
}

fn seen_in(snapshot: &RoomSnapshot) -> Seen {
    Seen {
        reset_epoch: snapshot.reset_epoch,
        queue_counter: snapshot.queue_counter,
        serving_counter: snapshot.serving_counter,
        admitted: snapshot.admitted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(reset_epoch: u64, queue_counter: u64) -> RoomSnapshot {
        let json = format!(
            r#"{{"room":"r","settings":{{}},"reset_epoch":{reset_epoch},"generation":1,"now_ms":1,
            "queue_counter":{queue_counter},"serving_counter":3,"admitted":30,"active":4,
            "phantom":2,"expired":0,"skipped":0,"expired_position":0,"admitted_last_minute":0,
            "tokens_until":0,"figures":{{}}}}"#
        );
        serde_json::from_str(&json).unwrap()
    }

    fn answer(reset_epoch: u64, queue_counter: u64, admitted: u64) -> Seen {
        Seen { reset_epoch, queue_counter, serving_counter: i64::MIN, admitted }
    }

    #[test]
    fn it_testifies_the_highest_it_has_seen_whenever_there_is_news() {
        let known = KnownRoom::new(snapshot(7, 90), Clock::Server);
        let told = known.testimony(false).unwrap();
        assert_eq!((told.queue_counter, told.admitted, told.active), (90, 30, 6));
        known.saw(answer(7, 80, 30));
        assert!(known.testimony(false).is_none(), "no news");
        known.saw(answer(7, 95, 33));
        let told = known.testimony(false).unwrap();
        assert_eq!((told.queue_counter, told.serving_counter), (95, 3));
        assert_eq!((told.admitted, told.active), (33, 9), "they may all be inside");
    }

    #[test]
    fn after_a_reset_nothing_of_before_it_is_testified() {
        let known = KnownRoom::new(snapshot(7, 90), Clock::Server);
        // The answer to somebody's join tells of the reset before the next snapshot does.
        known.saw(answer(8, 2, 1));
        known.receive(snapshot(7, 91));
        let told = known.testimony(false).unwrap();
        assert_eq!((told.reset_epoch, told.queue_counter), (8, 2));
        assert_eq!((told.admitted, told.active), (1, 1));
        known.receive(snapshot(8, 5));
        known.saw(answer(7, 92, 31));
        let told = known.testimony(true).unwrap();
        assert_eq!((told.reset_epoch, told.queue_counter), (8, 5));
    }
}
