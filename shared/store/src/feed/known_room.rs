//! One room in a service's memory: its last snapshot, and the highest that the service has seen.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering},
    },
};

use arc_swap::{ArcSwap, ArcSwapOption};
use tokio::time::Instant;
use vestibule_domain::{RoomSnapshot, draw::DrawRecord, schedule::Program};

use super::endings::{Ended, Endings};
use crate::{Clock, Testimony};

/// A room as this service knows it.
#[derive(Debug)]
pub struct KnownRoom {
    last: ArcSwap<Received>,
    plans: ArcSwapOption<Plans>,
    ended: Ended,
    queue_counter: AtomicU64,
    serving_counter: AtomicI64,
    admitted: AtomicU64,
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
        let (queue_counter, serving_counter, admitted) =
            (snapshot.queue_counter, snapshot.serving_counter, snapshot.admitted);
        let received = Received { snapshot: Arc::new(snapshot), at: Instant::now() };
        Self {
            last: ArcSwap::from_pointee(received),
            plans: ArcSwapOption::empty(),
            ended: Ended::new(Instant::now()),
            queue_counter: queue_counter.into(),
            serving_counter: serving_counter.into(),
            admitted: admitted.into(),
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
    pub fn saw(&self, queue_counter: u64, serving_counter: i64, admitted: u64) {
        let before = self.queue_counter.fetch_max(queue_counter, Ordering::Relaxed);
        self.serving_counter.fetch_max(serving_counter, Ordering::Relaxed);
        let admitted_before = self.admitted.fetch_max(admitted, Ordering::Relaxed);
        if queue_counter > before || admitted > admitted_before {
            self.untold.store(true, Ordering::Relaxed);
        }
    }

    /// The highest queue number that this service has seen.
    #[must_use]
    pub fn queue_counter(&self) -> u64 {
        self.queue_counter.load(Ordering::Relaxed)
    }

    /// Takes in a snapshot, unless it is older than the last.
    pub(super) fn receive(&self, snapshot: RoomSnapshot) {
        let last = Arc::clone(&self.last.load().snapshot);
        let order = |s: &RoomSnapshot| (s.reset_epoch, s.generation, s.now_ms);
        if order(&snapshot) < order(&last) {
            return;
        }
        if snapshot.reset_epoch == last.reset_epoch {
            self.saw(snapshot.queue_counter, snapshot.serving_counter, snapshot.admitted);
        } else {
            self.begin_again(&snapshot);
        }
        self.last.store(Arc::new(Received { snapshot: Arc::new(snapshot), at: Instant::now() }));
    }

    /// What this service has seen, if there is news since the last time it was asked, or in any
    /// case with `anyway`.
    pub(super) fn testimony(&self, anyway: bool) -> Option<Testimony> {
        if !self.untold.swap(false, Ordering::Relaxed) && !anyway {
            return None;
        }
        let last = self.snapshot();
        let admitted = self.admitted.load(Ordering::Relaxed);
        Some(Testimony {
            reset_epoch: last.reset_epoch,
            queue_counter: self.queue_counter.load(Ordering::Relaxed),
            serving_counter: self.serving_counter.load(Ordering::Relaxed),
            admitted,
            active: last.active + last.phantom + admitted.saturating_sub(last.admitted),
        })
    }

    /// After a reset, or a room made anew under the same name.
    fn begin_again(&self, snapshot: &RoomSnapshot) {
        self.queue_counter.store(snapshot.queue_counter, Ordering::Relaxed);
        self.serving_counter.store(snapshot.serving_counter, Ordering::Relaxed);
        self.admitted.store(snapshot.admitted, Ordering::Relaxed);
        self.untold.store(true, Ordering::Relaxed);
    }
}
