//! One room in a service's memory: its last snapshot, its config, and the watermarks that the service has
//! seen.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use arc_swap::{ArcSwap, ArcSwapOption};
use tokio::time::Instant;
use vestibule_domain::{Progress, RoomSnapshot, Stamp, draw::DrawRecord, schedule::RoomConfig};

use super::{
    REFRESH, REFRESH_AT_REST,
    endings::{Ended, Endings, RevokedPlaces},
};
use crate::{Clock, Highest, SharedReading, StoreError, memory::RoomMemory};

/// A reset epoch, and which generation of it.
pub(super) type Generation = (u64, u32);

/// A room as this service knows it.
#[derive(Debug)]
pub struct KnownRoom {
    last: ArcSwap<Received>,
    stored_config: ArcSwapOption<StoredConfig>,
    /// The generation in which it was read: its reset epoch and number. On two sides of a split two configs may have
    /// had one version.
    config_of: std::sync::Mutex<Option<Generation>>,
    /// That in which it was read what was done in the room: see `recall`.
    pub(super) recalled_in: std::sync::Mutex<Option<Generation>>,
    ended: Ended,
    revoked: RevokedPlaces,
    /// What this service has seen of it, in answers and in snapshots.
    pub(super) memory: Arc<RoomMemory>,
    /// The readings out of turn.
    catching_up: SharedReading<StoreError>,
    /// How much was heard of the room.
    news: AtomicU64,
    /// See [`Self::was_woken`].
    woken: AtomicBool,
    /// See [`Self::note_unanswered`].
    unanswered: AtomicBool,
    clock: Clock,
}

/// A room's config and the published records of its draws, remembered so that the room can be
/// restored.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredConfig {
    /// Settings and events.
    pub config: RoomConfig,
    /// The published records of its draws, by draw id.
    pub draws: BTreeMap<String, DrawRecord>,
}

#[derive(Debug)]
struct Received {
    snapshot: Arc<RoomSnapshot>,
    at: Instant,
}

// === impl StoredConfig ===

impl StoredConfig {
    /// Published records are final: those that were read before are kept.
    fn after(mut self, known: Option<&Self>) -> Self {
        let before = known.into_iter().flat_map(|known| &known.draws);
        for (id, record) in before {
            self.draws.entry(id.clone()).or_insert_with(|| record.clone());
        }
        self
    }
}

// === impl KnownRoom ===

impl KnownRoom {
    pub(super) fn new(snapshot: RoomSnapshot, memory: Arc<RoomMemory>, clock: Clock) -> Self {
        memory.take_snapshot(&snapshot);
        let received = Received { snapshot: Arc::new(snapshot), at: Instant::now() };
        Self {
            last: ArcSwap::from_pointee(received),
            stored_config: ArcSwapOption::empty(),
            config_of: std::sync::Mutex::default(),
            recalled_in: std::sync::Mutex::default(),
            ended: Ended::new(Instant::now()),
            revoked: RevokedPlaces::default(),
            memory,
            catching_up: SharedReading::default(),
            news: AtomicU64::new(0),
            woken: AtomicBool::new(true),
            unanswered: AtomicBool::new(false),
            clock,
        }
    }

    /// A number that rises with every snapshot and with every session that is heard to have ended: a
    /// seat may be free, or the settings others.
    #[must_use]
    pub fn news(&self) -> u64 {
        self.news.load(Ordering::Relaxed)
    }

    /// Whether the room was changed while it rested, or came to be known, since [`Self::take_wake`] was called last:
    /// for the leader.
    #[must_use]
    pub fn was_woken(&self) -> bool {
        self.woken.load(Ordering::Acquire)
    }

    /// Says that the room is about to be looked at.
    pub fn take_wake(&self) {
        self.woken.store(false, Ordering::Release);
    }

    /// Says that the room should be looked at, though it may rest.
    pub fn wake(&self) {
        self.woken.store(true, Ordering::Release);
    }

    /// The readings by [`Feed::catch_up`](super::Feed::catch_up).
    pub(super) fn catching_up(&self) -> &SharedReading<StoreError> {
        &self.catching_up
    }

    /// The last snapshot.
    #[must_use]
    pub fn snapshot(&self) -> Arc<RoomSnapshot> {
        Arc::clone(&self.last.load().snapshot)
    }

    /// Redis's time in ms, as far as this service knows it: the time of the last snapshot plus the time
    /// since it arrived, by this host's monotonic clock.
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

    /// The room's config and published draws; `None` until they were read.
    #[must_use]
    pub fn stored_config(&self) -> Option<Arc<StoredConfig>> {
        self.stored_config.load_full()
    }

    /// Whether a session was ended before its time, as far as this service knows: as long as a token of it may be valid.
    #[must_use]
    pub fn has_ended(&self, reset_epoch: u64, number: u64) -> bool {
        self.ended.contains(reset_epoch, number) || self.memory.has_ended(reset_epoch, number)
    }

    /// Whether an operator has revoked the place in line of this number, as far as this service knows.
    #[must_use]
    pub fn was_revoked(&self, reset_epoch: u64, number: u64) -> bool {
        self.revoked.contains(reset_epoch, number)
    }

    /// Takes in places of this epoch that operators have revoked.
    pub(super) fn take_revoked(&self, reset_epoch: u64, numbers: Vec<u64>) {
        self.revoked.take(reset_epoch, numbers);
    }

    /// Takes in a session that this service itself has ended: nobody may pass by it until the push of that comes.
    pub fn note_ended(&self, reset_epoch: u64, number: u64) {
        self.ended.take_one(reset_epoch, number, Instant::now());
    }

    pub(super) fn take_endings(&self, endings: &Endings) {
        self.revoked.take(endings.reset_epoch, endings.places.iter().copied());
        self.memory.take_endings(endings.reset_epoch, endings.endings());
        self.ended.take(endings, Instant::now());
        self.news.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether the room's config may be another than was read.
    pub(super) fn needs_config(&self) -> bool {
        let last = self.snapshot();
        let read_in = *self.config_of.lock().unwrap_or_else(PoisonError::into_inner);
        read_in != Some(generation(&last))
            || !self.is_recalled_in(generation(&last))
            || self
                .stored_config()
                .is_none_or(|stored| stored.config.version != last.config_version)
    }

    /// Whether the room's config or draws have changed since they were read.
    pub(super) fn needs_config_or_draws(&self) -> bool {
        let drawn = self.snapshot().draws.len();
        self.needs_config() || self.stored_config().is_none_or(|stored| stored.draws.len() < drawn)
    }

    /// Replaces the remembered config and draws. `before`: the last snapshot when they were about to be read.
    pub(super) fn set_stored_config(&self, stored: &StoredConfig, before: &RoomSnapshot) {
        *self.config_of.lock().unwrap_or_else(PoisonError::into_inner) = Some(generation(before));
        self.stored_config.rcu(|known| Some(Arc::new(stored.clone().after(known.as_deref()))));
    }

    /// How long ago the last snapshot came.
    #[must_use]
    pub fn age(&self) -> std::time::Duration {
        self.last.load().at.elapsed()
    }

    /// Redis did not answer a call about the room. That is so until the next snapshot comes: those who could wait in vain
    /// for a call of their own need not make it.
    pub fn note_unanswered(&self) {
        self.unanswered.store(true, Ordering::Relaxed);
    }

    /// Whether it did not, and nothing was heard of the room since.
    pub(super) fn is_unanswered(&self) -> bool {
        self.unanswered.load(Ordering::Relaxed)
    }

    /// Whether no snapshot of it is overdue.
    pub(super) fn is_fresh(&self) -> bool {
        let refresh = if self.snapshot().rests { REFRESH_AT_REST } else { REFRESH };
        self.age() < refresh
    }

    /// The highest counters that this service has seen.
    #[must_use]
    pub fn watermarks(&self) -> Highest {
        self.memory.watermarks().get()
    }

    /// The state of the last snapshot, and when that came: all that happened before is in it.
    #[must_use]
    pub fn heard(&self) -> (Stamp, Instant) {
        let last = self.last.load();
        (last.snapshot.stamp(), last.at)
    }

    /// What this service has seen of the room.
    pub(super) fn memory(&self) -> &RoomMemory {
        &self.memory
    }

    /// How far the room has come: the counters of `snapshot`, one of its snapshots, or the higher
    /// watermarks of this service.
    #[must_use]
    pub fn progress(&self, snapshot: &RoomSnapshot) -> Progress {
        let (own, seen) = (snapshot.progress(), self.watermarks());
        if seen.reset_epoch != snapshot.reset_epoch {
            return own;
        }
        Progress {
            queue_counter: own.queue_counter.max(seen.queue_counter),
            admitted: own.admitted.max(seen.admitted),
        }
    }

    /// Replaces the last snapshot, unless the given one is older.
    pub(super) fn receive(&self, snapshot: RoomSnapshot) {
        let order = |s: &RoomSnapshot| (s.reset_epoch, s.generation, s.now_ms);
        let received = Arc::new(Received { snapshot: Arc::new(snapshot), at: Instant::now() });
        let is_old = |last: &Received| order(&received.snapshot) < order(&last.snapshot);
        if is_old(&self.last.load()) {
            return;
        }
        self.memory.take_snapshot(&received.snapshot);
        // Another task may have stored a newer one meanwhile.
        self.last.rcu(|last| Arc::clone(if is_old(last) { last } else { &received }));
        self.unanswered.store(false, Ordering::Relaxed);
        self.news.fetch_add(1, Ordering::Relaxed);
    }
}

pub(super) fn generation(room: &RoomSnapshot) -> Generation {
    (room.reset_epoch, room.generation)
}
