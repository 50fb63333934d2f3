//! One room in a service's memory: its last snapshot, its config, and the watermarks that the service has
//! seen.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use arc_swap::{ArcSwap, ArcSwapOption};
use tokio::{sync::Mutex, time::Instant};
use vestibule_domain::{
    Progress, RoomSnapshot, draw::DrawRecord, restoration::WatermarkReport, schedule::RoomConfig,
};

use super::{
    endings::{Ended, Endings},
    watermarks::{Counters, Watermarks},
};
use crate::Clock;

/// A room as this service knows it.
#[derive(Debug)]
pub struct KnownRoom {
    last: ArcSwap<Received>,
    stored_config: ArcSwapOption<StoredConfig>,
    ended: Ended,
    watermarks: Watermarks,
    /// Whether the watermarks have risen since the last report.
    unreported: AtomicBool,
    /// When the last reading out of turn began.
    caught_up: Mutex<Option<Instant>>,
    /// How much was heard of the room.
    news: AtomicU64,
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

// === impl KnownRoom ===

impl KnownRoom {
    pub(super) fn new(snapshot: RoomSnapshot, clock: Clock) -> Self {
        let watermarks = Watermarks::new(counters_of(&snapshot));
        let received = Received { snapshot: Arc::new(snapshot), at: Instant::now() };
        Self {
            last: ArcSwap::from_pointee(received),
            stored_config: ArcSwapOption::empty(),
            ended: Ended::new(Instant::now()),
            watermarks,
            unreported: true.into(),
            caught_up: Mutex::default(),
            news: AtomicU64::new(0),
            clock,
        }
    }

    /// A number that rises with every snapshot and with every session that is heard to have ended: a
    /// seat may be free, or the settings others.
    #[must_use]
    pub fn news(&self) -> u64 {
        self.news.load(Ordering::Relaxed)
    }

    pub(super) fn last_caught_up(&self) -> &Mutex<Option<Instant>> {
        &self.caught_up
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

    /// Whether a session was ended before its time, as far as this service knows. That is reliable only
    /// for sessions that Redis renewed within [`vestibule_domain::settings::LONGEST_RECHECK_MS`].
    #[must_use]
    pub fn has_ended(&self, reset_epoch: u64, number: u64) -> bool {
        self.ended.contains(reset_epoch, number)
    }

    pub(super) fn take_endings(&self, endings: &Endings) {
        self.ended.take(endings, Instant::now());
        self.news.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether the room's config has changed since it was read.
    pub(super) fn needs_config(&self) -> bool {
        let version = self.snapshot().config_version;
        self.stored_config().is_none_or(|stored| stored.config.version != version)
    }

    /// Whether the room's config or draws have changed since they were read.
    pub(super) fn needs_config_or_draws(&self) -> bool {
        let drawn = self.snapshot().draws.len();
        self.needs_config() || self.stored_config().is_none_or(|stored| stored.draws.len() < drawn)
    }

    /// Replaces the remembered config and draws.
    pub(super) fn set_stored_config(&self, stored: StoredConfig) {
        self.stored_config.store(Some(Arc::new(stored)));
    }

    /// How long ago the last snapshot came.
    #[must_use]
    pub fn age(&self) -> std::time::Duration {
        self.last.load().at.elapsed()
    }

    /// Raises the watermarks to counters of a reply of Redis.
    pub fn observe(&self, seen: Counters) {
        if self.watermarks.take(seen) {
            self.unreported.store(true, Ordering::Relaxed);
        }
    }

    /// The highest counters that this service has seen.
    #[must_use]
    pub fn watermarks(&self) -> Counters {
        self.watermarks.get()
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
        self.observe(counters_of(&received.snapshot));
        // Another task may have stored a newer one meanwhile.
        self.last.rcu(|last| Arc::clone(if is_old(last) { last } else { &received }));
        self.news.fetch_add(1, Ordering::Relaxed);
    }

    /// The watermarks as a report; `None` if they have not risen since the last report, unless `anyway`.
    pub(super) fn watermark_report(&self, anyway: bool) -> Option<WatermarkReport> {
        if !self.unreported.swap(false, Ordering::Relaxed) && !anyway {
            return None;
        }
        let (seen, last) = (self.watermarks.get(), self.snapshot());
        // After a reset nobody of the last snapshot is inside any more.
        let known = if last.reset_epoch == seen.reset_epoch { Some(&last) } else { None };
        let (inside, admitted) =
            known.map_or((0, 0), |last| (last.active + last.unconfirmed, last.admitted));
        Some(WatermarkReport {
            reset_epoch: seen.reset_epoch,
            queue_counter: seen.queue_counter,
            serving_counter: seen.serving_counter,
            admitted: seen.admitted,
            active: inside + seen.admitted.saturating_sub(admitted),
        })
    }
}

fn counters_of(snapshot: &RoomSnapshot) -> Counters {
    Counters {
        reset_epoch: snapshot.reset_epoch,
        queue_counter: snapshot.queue_counter,
        serving_counter: Some(snapshot.serving_counter),
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
            "unconfirmed":2,"expired":0,"skipped":0,"expired_position":0,"admitted_last_minute":0,
            "tokens_until":0,"figures":{{}}}}"#
        );
        serde_json::from_str(&json).unwrap()
    }

    fn answer(reset_epoch: u64, queue_counter: u64, admitted: u64) -> Counters {
        Counters { reset_epoch, queue_counter, serving_counter: None, admitted }
    }

    #[test]
    fn it_testifies_the_highest_it_has_seen_whenever_there_is_news() {
        let known = KnownRoom::new(snapshot(7, 90), Clock::Server);
        let told = known.watermark_report(false).unwrap();
        assert_eq!((told.queue_counter, told.admitted, told.active), (90, 30, 6));
        known.observe(answer(7, 80, 30));
        assert!(known.watermark_report(false).is_none(), "no news");
        known.observe(answer(7, 95, 33));
        let told = known.watermark_report(false).unwrap();
        assert_eq!((told.queue_counter, told.serving_counter), (95, Some(3)));
        assert_eq!((told.admitted, told.active), (33, 9), "they may all be inside");
    }

    #[test]
    fn after_a_reset_nothing_of_before_it_is_testified() {
        let known = KnownRoom::new(snapshot(7, 90), Clock::Server);
        // The answer to somebody's join tells of the reset before the next snapshot does.
        known.observe(answer(8, 2, 1));
        known.receive(snapshot(7, 91));
        let told = known.watermark_report(false).unwrap();
        assert_eq!((told.reset_epoch, told.queue_counter), (8, 2));
        assert_eq!((told.admitted, told.active), (1, 1));
        known.receive(snapshot(8, 5));
        known.observe(answer(7, 92, 31));
        let told = known.watermark_report(true).unwrap();
        assert_eq!((told.reset_epoch, told.queue_counter), (8, 5));
    }
}
