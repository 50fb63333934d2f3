//! The feed: every service's memory of the rooms. Snapshots arrive by push (`subscriptions`, and of a Cluster `shards`).
//! A slow poll finds what the push missed.
//!
//! A room that Redis no longer holds stays in memory, because the leader restores lost rooms from
//! memories like this one: whoever remembers a room lists it again. A room is forgotten only because somebody says
//! that it was deleted.

mod aliases;
mod catch_up;
mod changes;
mod complete;
mod deletions;
mod endings;
mod known_room;
mod pushes;
mod reading;
mod recall;
mod room_locks;
mod shards;
mod subscriptions;
mod testify;
mod witnesses;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use arc_swap::ArcSwap;
use rustc_hash::FxHashMap;
use tokio::{
    sync::{Mutex, Notify},
    time::{Instant, sleep},
};
use vestibule_domain::{Announcement, Formats, RoomId, RoomSnapshot, rest, schedule::RoomConfig};

pub use self::known_room::{KnownRoom, StoredConfig};
use self::room_locks::RoomLocks;
use self::{
    aliases::Aliases, complete::Readings, deletions::Deleted, shards::Shards, witnesses::Witnesses,
};
use crate::{Push, Store, StoreError};

/// The time between two slow polls.
const POLL: Duration = Duration::from_millis(500);
/// How often the leader pushes a room of which nothing changes; it does so with its first tick after that.
pub const HEARTBEAT: Duration = Duration::from_secs(1);
/// A room whose last snapshot is older than this is read again: a push was missed, and not only late.
const REFRESH: Duration = Duration::from_secs(2);
/// One that rests is read again when the leader has surely looked at it again.
const REFRESH_AT_REST: Duration = Duration::from_millis(rest::LOOK_EVERY_MS + 750);
/// A snapshot older than this counts as stale.
const STALE_MS: u64 = 5_000;

/// All rooms, as this service knows them. Cloning is cheap.
#[derive(Debug, Clone)]
pub struct Feed(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    store: Store,
    instance: String,
    rooms: ArcSwap<FxHashMap<RoomId, Arc<KnownRoom>>>,
    /// Locked while the map is changed; readers never wait.
    changing: Mutex<()>,
    /// Of a room, locked from reading Redis until the result is stored, so that nothing older replaces it.
    reading: RoomLocks,
    /// Notified by the push of an operator's change: see [`Feed::follow_changes`].
    changed: Notify,
    /// The revision up to which this instance applies operators' changes; `None`: no room was read yet.
    taken: Mutex<Option<u64>>,
    connected: AtomicBool,
    /// Whether the list of rooms was ever read.
    has_list: AtomicBool,
    readings: Readings,
    /// Whether the last complete reading knew the config of each of them.
    configs_complete: AtomicBool,
    /// The rooms that are known to have been deleted.
    deleted: Mutex<Deleted>,
    /// Rooms about which the leader may be asking. No lock to wait for: the tasks that tell are not polled all the time,
    /// and one of them that was handed it would keep it.
    alarmed: std::sync::Mutex<BTreeSet<RoomId>>,
    alarm: Notify,
    /// Rooms of which this service heard that somebody is wrong, or has told something of them: for the leader.
    questioned: std::sync::Mutex<BTreeSet<RoomId>>,
    question: Notify,
    configs_read: AtomicU64,
    aliases: Aliases,
    /// The services that run.
    witnesses: Witnesses,
    /// What every running service reads.
    formats: std::sync::Mutex<Option<Formats>>,
    /// Whether every running service makes request ids that are UUIDs.
    makes_uuids: AtomicBool,
    shards: Shards,
}

// === impl Feed ===

impl Feed {
    /// An empty memory; [`Self::run`] fills it. `instance` is the unique name of this service.
    #[must_use]
    pub fn new(store: Store, instance: impl Into<String>) -> Self {
        Self(Arc::new(Inner {
            store,
            instance: instance.into(),
            rooms: ArcSwap::default(),
            changing: Mutex::default(),
            reading: RoomLocks::default(),
            changed: Notify::new(),
            taken: Mutex::default(),
            connected: AtomicBool::new(false),
            has_list: AtomicBool::new(false),
            readings: Readings::default(),
            configs_complete: AtomicBool::new(false),
            deleted: Mutex::default(),
            alarmed: std::sync::Mutex::default(),
            alarm: Notify::new(),
            questioned: std::sync::Mutex::default(),
            question: Notify::new(),
            configs_read: AtomicU64::new(0),
            aliases: Aliases::default(),
            witnesses: Witnesses::default(),
            formats: std::sync::Mutex::default(),
            makes_uuids: AtomicBool::new(false),
            shards: Shards::default(),
        }))
    }

    /// The room, if this service knows it.
    #[must_use]
    pub fn room(&self, room: &str) -> Option<Arc<KnownRoom>> {
        self.0.rooms.load().get(room).cloned()
    }

    /// Every room this service knows.
    #[must_use]
    pub fn rooms(&self) -> Vec<Arc<KnownRoom>> {
        self.0.rooms.load().values().cloned().collect()
    }

    /// A version that rises whenever a room comes or goes or its config was read:
    /// see [`KnownRoom::stored_config`].
    #[must_use]
    pub fn configs_version(&self) -> u64 {
        self.0.configs_read.load(Ordering::Acquire)
    }

    /// Whether all of Redis answered when it was last asked. Of one room see [`Self::is_away`]: of a Cluster a part may
    /// not answer.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        self.0.connected.load(Ordering::Relaxed)
    }

    /// Whether enough of Redis has answered to begin: of a Cluster the shard that has the list of rooms, since others may be
    /// away for long.
    #[must_use]
    pub fn has_begun(&self) -> bool {
        self.0.has_list.load(Ordering::Relaxed)
    }

    /// Whether Redis does not answer for `room`, as far as this service knows: a call has failed, or not all of Redis
    /// answers and a snapshot of the room is overdue.
    #[must_use]
    pub fn is_away(&self, room: &KnownRoom) -> bool {
        room.is_unanswered() || !(self.is_connected() || room.is_fresh())
    }

    /// Whether the last reading of all rooms left none whose config this service does not know.
    #[must_use]
    pub fn has_read_every_config(&self) -> bool {
        self.0.configs_complete.load(Ordering::Acquire)
    }

    /// Whether `snapshot` of `room` may be out of date at `now_ms`, by [`KnownRoom::now_ms`].
    #[must_use]
    pub fn is_stale(&self, room: &KnownRoom, snapshot: &RoomSnapshot, now_ms: u64) -> bool {
        self.is_away(room) || now_ms.saturating_sub(snapshot.now_ms) > STALE_MS
    }

    /// Keeps the memory fresh until it is dropped.
    pub async fn run(self) {
        while let Err(error) = self.0.store.learn_time().await {
            tracing::debug!(%error, "the time could not be learned");
            sleep(POLL).await;
        }
        tokio::join!(self.listen(), self.poll(), self.speak(), self.testify_when_asked());
    }

    /// Reads every room once, now.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn refresh(&self) -> Result<(), StoreError> {
        let begun = Instant::now();
        let read = self.read_all().await;
        self.0.connected.store(read.is_ok(), Ordering::Relaxed);
        self.0.readings.note(begun, read.as_ref().ok().copied());
        read.map(drop)
    }

    /// Stores a snapshot that did not come by the push.
    pub async fn receive(&self, snapshot: RoomSnapshot) {
        // What was seen before it.
        let late = self.recollect_late(&snapshot);
        let room = snapshot.room.clone();
        // Boxed, because they are large.
        Box::pin(self.store(snapshot)).await;
        if let Some(late) = late {
            Box::pin(self.testify_late(&room, late)).await;
        }
    }

    async fn store(&self, snapshot: RoomSnapshot) {
        if let Some(known) = self.room(snapshot.room.as_str()) {
            known.receive(snapshot);
            return;
        }
        let name = snapshot.room.clone();
        let known = {
            let memory = self.0.store.memory().room(&name);
            Arc::new(KnownRoom::new(snapshot, memory, self.0.store.clock().clone()))
        };
        self.change(|rooms| {
            rooms.entry(name).or_insert(known);
        })
        .await;
    }

    async fn change(&self, change: impl FnOnce(&mut FxHashMap<RoomId, Arc<KnownRoom>>)) {
        let _changing = self.0.changing.lock().await;
        let mut rooms = FxHashMap::clone(&self.0.rooms.load());
        change(&mut rooms);
        self.0.rooms.store(Arc::new(rooms));
        self.0.configs_read.fetch_add(1, Ordering::Release);
        self.0.shards.note_rooms();
    }

    async fn poll(&self) {
        loop {
            if let Err(error) = self.refresh().await {
                tracing::debug!(%error, "rooms could not be read");
            }
            sleep(POLL).await;
        }
    }

    /// Says twice a second that this service runs, and what time it is: however long it takes to read all rooms.
    async fn speak(&self) {
        loop {
            if let Err(error) = self.announce().await {
                tracing::debug!(%error, "formats could not be announced");
            }
            if let Err(error) = self.0.store.tell_time().await {
                tracing::debug!(%error, "the time could not be told");
            }
            sleep(POLL).await;
        }
    }

    /// Announces that this service runs, and which formats it reads and writes.
    async fn announce(&self) -> Result<(), StoreError> {
        let ours = Announcement { sharded: self.hears_shards().await, ..Announcement::OURS };
        let running = self.0.store.announce(&self.0.instance, ours).await?;
        self.0.store.push_sharded(running.sharded);
        let mut seen = running.seen;
        seen.extend(running.unheard);
        self.0.witnesses.note(seen, &running.stopped);
        let makes_uuids = running.written.request_id >= Formats::WRITTEN.request_id;
        self.0.makes_uuids.store(makes_uuids, Ordering::Relaxed);
        let all = running.formats;
        if self.formats().replace(all) != Some(all) {
            tracing::info!(all.ticket, all.snapshot, "formats that every running service reads");
        }
        Ok(())
    }

    fn formats(&self) -> MutexGuard<'_, Option<Formats>> {
        self.0.formats.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the request id of a new place may be a UUID: every running service would tell the same one.
    #[must_use]
    pub fn makes_uuids(&self) -> bool {
        self.0.makes_uuids.load(Ordering::Relaxed)
    }

    /// How the leader may push, so that every running service can read it.
    #[must_use]
    pub fn push_for_all(&self) -> Push {
        let reads = self.formats().is_some_and(Formats::have_differences);
        if reads { Push::Difference } else { Push::Whole }
    }

    /// Takes in the config of a room that this service has just put.
    pub fn note_config(&self, room: &RoomId, config: RoomConfig) {
        if let Some(known) = self.room(room.as_str()) {
            let stored = StoredConfig { config, draws: BTreeMap::new() };
            known.set_stored_config(&stored, &known.snapshot());
            self.0.configs_read.fetch_add(1, Ordering::Release);
        }
    }

    /// Learns who runs, by this server: whoever decides what was lost must know whom to wait for, and may have come from
    /// another server a moment before.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn learn_who_runs(&self) -> Result<(), StoreError> {
        self.announce().await
    }

    /// The services that may have been there after `moment`, and so may have seen what was not known then; `None`: all.
    #[must_use]
    pub fn witnesses_after(&self, moment: Option<Instant>) -> BTreeSet<String> {
        self.0.witnesses.after(moment)
    }

    /// The services that may have been there within the last `age`; `None`: there may be some of which this one has never
    /// heard.
    #[must_use]
    pub fn witnesses_within(&self, age: Duration) -> Option<BTreeSet<String>> {
        Instant::now().checked_sub(age).and_then(|moment| self.0.witnesses.all_after(moment))
    }

    /// Says that this service stops, and has seen all that it will ever see.
    pub async fn say_goodbye(&self) {
        let has_told = self.say_last_words().await;
        // If Redis is away, the others find it out by its silence.
        let _ = self.0.store.announce_stop(&self.0.instance, has_told).await;
    }

    /// The rooms whose state may not be their latest, or of which somebody has told what it had seen, since this was
    /// asked last.
    #[must_use]
    pub fn take_questioned(&self) -> BTreeSet<RoomId> {
        std::mem::take(&mut *self.0.questioned.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits until there are such rooms.
    pub async fn questioned(&self) {
        self.0.question.notified().await;
    }

    /// What was asked about `room` is answered: also what this service itself has caused to be asked meanwhile.
    pub fn has_answered(&self, room: &RoomId) {
        self.0.questioned.lock().unwrap_or_else(PoisonError::into_inner).remove(room);
    }

    fn question(&self, room: RoomId) {
        self.0.questioned.lock().unwrap_or_else(PoisonError::into_inner).insert(room);
        self.0.question.notify_one();
    }
}
