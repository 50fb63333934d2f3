//! The feed: every service's memory of the rooms. Snapshots arrive by push. A slow poll finds what the
//! push missed, and reports this service's watermarks to Redis.
//!
//! A room that Redis no longer holds stays in memory, because the leader restores lost rooms from
//! memories like this one. A room counts as deleted only if two polls in a row find it missing from the
//! list of a keyspace that has its schema stamp.

mod catch_up;
mod changes;
mod endings;
mod known_room;
mod watermarks;

use std::{
    collections::BTreeSet,
    sync::{
        Arc, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use arc_swap::ArcSwap;
use futures_util::StreamExt;
use rustc_hash::FxHashMap;
use tokio::{
    sync::{Mutex, Notify},
    time::{Instant, sleep},
};
use vestibule_domain::{Formats, RoomId, RoomSnapshot};

use self::endings::Endings;
pub use self::{
    known_room::{KnownRoom, StoredConfig},
    watermarks::Counters,
};
use crate::{
    Message, Store, StoreError, document,
    keys::{CHANGES, DELETIONS, ENDINGS, SNAPSHOTS},
};

/// The time between two slow polls.
const POLL: Duration = Duration::from_millis(500);
/// A complete reading that is older than this says nothing about rooms that are not known.
const COMPLETE: Duration = Duration::from_millis(1_500);
/// A room whose last snapshot is older than this is read again.
const REFRESH: Duration = Duration::from_secs(1);
/// The time between two announcements of what this service reads.
const ANNOUNCE: Duration = Duration::from_secs(10);
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
    /// Locked from reading Redis until the result is stored, so that nothing older replaces it.
    reading: Mutex<()>,
    /// Notified by the push of an operator's change: see [`Feed::follow_changes`].
    changed: Notify,
    /// The revision up to which this instance applies operators' changes; `None`: no room was read yet.
    taken: Mutex<Option<u64>>,
    connected: AtomicBool,
    /// When the last complete reading of all rooms began.
    read_at: std::sync::Mutex<Option<Instant>>,
    unlisted: Mutex<BTreeSet<RoomId>>,
    configs_read: AtomicU64,
    /// What every running service reads, and when that was found.
    formats: Mutex<Option<(Formats, Instant)>>,
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
            reading: Mutex::default(),
            changed: Notify::new(),
            taken: Mutex::default(),
            connected: AtomicBool::new(false),
            read_at: std::sync::Mutex::default(),
            unlisted: Mutex::default(),
            configs_read: AtomicU64::new(0),
            formats: Mutex::default(),
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

    /// Whether Redis answered when it was last asked.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        self.0.connected.load(Ordering::Relaxed)
    }

    /// Whether a room that this service does not know does not exist: all rooms were read a moment ago.
    /// Otherwise it may be new, and people may wait in it.
    #[must_use]
    pub fn knows_every_room(&self) -> bool {
        let read_at = *self.0.read_at.lock().unwrap_or_else(PoisonError::into_inner);
        read_at.is_some_and(|read_at| read_at.elapsed() <= COMPLETE)
    }

    /// Whether `snapshot` may be out of date at `now_ms`, by [`KnownRoom::now_ms`].
    #[must_use]
    pub fn is_stale(&self, snapshot: &RoomSnapshot, now_ms: u64) -> bool {
        !self.is_connected() || now_ms.saturating_sub(snapshot.now_ms) > STALE_MS
    }

    /// Keeps the memory fresh until it is dropped.
    pub async fn run(self) {
        tokio::join!(self.listen(), self.poll());
    }

    /// Reads every room once, now.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn refresh(&self) -> Result<(), StoreError> {
        let begun = Instant::now();
        let read = self.read_all().await;
        self.0.connected.store(read.is_ok(), Ordering::Relaxed);
        if read.is_ok() {
            *self.0.read_at.lock().unwrap_or_else(PoisonError::into_inner) = Some(begun);
        }
        read
    }

    /// Stores a snapshot that did not come by the push.
    pub async fn receive(&self, snapshot: RoomSnapshot) {
        if let Some(known) = self.room(snapshot.room.as_str()) {
            known.receive(snapshot);
            return;
        }
        let name = snapshot.room.clone();
        let known = Arc::new(KnownRoom::new(snapshot, self.0.store.clock().clone()));
        self.change(|rooms| {
            rooms.entry(name).or_insert(known);
        })
        .await;
    }

    /// Forgets a room that was deleted.
    pub async fn forget(&self, room: &RoomId) {
        self.change(|rooms| drop(rooms.remove(room))).await;
    }

    async fn change(&self, change: impl FnOnce(&mut FxHashMap<RoomId, Arc<KnownRoom>>)) {
        let _changing = self.0.changing.lock().await;
        let mut rooms = FxHashMap::clone(&self.0.rooms.load());
        change(&mut rooms);
        self.0.rooms.store(Arc::new(rooms));
        self.0.configs_read.fetch_add(1, Ordering::Release);
    }

    async fn poll(&self) {
        loop {
            if let Err(error) = self.refresh().await {
                tracing::debug!(%error, "rooms could not be read");
            }
            if let Err(error) = self.announce().await {
                tracing::debug!(%error, "formats could not be announced");
            }
            sleep(POLL).await;
        }
    }

    /// Announces which formats this service reads, if that is due.
    async fn announce(&self) -> Result<(), StoreError> {
        let mut found = self.0.formats.lock().await;
        let before = *found;
        if before.is_some_and(|(_, at)| at.elapsed() < ANNOUNCE) {
            return Ok(());
        }
        let all = self.0.store.announce(&self.0.instance, Formats::KNOWN).await?;
        if before.map(|(formats, _)| formats) != Some(all) {
            tracing::info!(all.ticket, all.snapshot, "formats that every running service reads");
        }
        *found = Some((all, Instant::now()));
        Ok(())
    }

    async fn read_all(&self) -> Result<(), StoreError> {
        let listed: BTreeSet<RoomId> = self.0.store.rooms().await?.into_iter().collect();
        self.forget_deleted(&listed).await?;
        for room in &listed {
            self.read(room).await?;
        }
        for known in self.rooms().iter().filter(|known| known.needs_config_or_draws()) {
            self.refresh_config(known).await?;
        }
        for known in self.rooms() {
            self.report_watermarks(&known, !listed.contains(&known.snapshot().room)).await?;
        }
        Ok(())
    }

    async fn read(&self, room: &RoomId) -> Result<(), StoreError> {
        if self.room(room.as_str()).is_some_and(|known| known.age() < REFRESH) {
            return Ok(());
        }
        let reading = self.0.reading.lock().await;
        if let Some(snapshot) = self.0.store.read_snapshot(room).await? {
            self.receive(snapshot).await;
            return Ok(());
        }
        drop(reading);
        if let Some(known) = self.room(room.as_str()) {
            self.report_watermarks(&known, true).await?;
        }
        Ok(())
    }

    /// Reads a room's config and draws. If Redis has lost them, the remembered ones stay.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn refresh_config(&self, known: &KnownRoom) -> Result<(), StoreError> {
        let _reading = self.0.reading.lock().await;
        let room = &known.snapshot().room;
        if let Some(config) = self.0.store.read_config(room).await? {
            let draws = self.0.store.read_draws(room).await?;
            known.set_stored_config(StoredConfig { config, draws });
            self.0.configs_read.fetch_add(1, Ordering::Release);
        }
        Ok(())
    }

    async fn report_watermarks(&self, known: &KnownRoom, anyway: bool) -> Result<(), StoreError> {
        if let Some(seen) = known.watermark_report(anyway) {
            let room = &known.snapshot().room;
            self.0.store.report_watermarks(room, &self.0.instance, &seen).await?;
        }
        Ok(())
    }

    async fn forget_deleted(&self, listed: &BTreeSet<RoomId>) -> Result<(), StoreError> {
        let known = self.rooms().into_iter().map(|known| known.snapshot().room.clone());
        let unlisted: BTreeSet<RoomId> = known.filter(|room| !listed.contains(room)).collect();
        let intact = unlisted.is_empty() || self.0.store.schema().await? > 0;
        let mut before = self.0.unlisted.lock().await;
        if !intact {
            before.clear();
            return Ok(());
        }
        let deleted: Vec<_> = unlisted.intersection(&before).cloned().collect();
        *before = unlisted;
        drop(before);
        if !deleted.is_empty() {
            self.change(|rooms| rooms.retain(|room, _| !deleted.contains(room))).await;
        }
        Ok(())
    }

    async fn listen(&self) {
        loop {
            if let Err(error) = self.subscribe().await {
                tracing::debug!(%error, "the push of snapshots is interrupted");
            }
            sleep(POLL).await;
        }
    }

    async fn subscribe(&self) -> Result<(), StoreError> {
        let channels = [SNAPSHOTS, DELETIONS, ENDINGS, CHANGES];
        let mut messages = self.0.store.link().subscribe(&channels).await?;
        while let Some(Message { channel, payload }) = messages.next().await {
            match channel.as_str() {
                SNAPSHOTS => match document::decode(&payload) {
                    Ok(snapshot) => {
                        self.0.store.note_push(&snapshot);
                        self.receive_push(snapshot).await;
                    }
                    Err(error) => tracing::warn!(%error, "a snapshot cannot be read"),
                },
                ENDINGS => self.take_endings(&payload),
                CHANGES => self.0.changed.notify_one(),
                _ => self.change(|rooms| drop(rooms.remove(payload.as_str()))).await,
            }
        }
        Ok(())
    }

    /// Stores a pushed snapshot, and reads the room's config if it has changed.
    async fn receive_push(&self, snapshot: RoomSnapshot) {
        let room = snapshot.room.clone();
        self.receive(snapshot).await;
        if let Some(known) = self.room(room.as_str()).filter(|known| known.needs_config()) {
            // If this fails, the slow poll reads it.
            let _ = self.refresh_config(&known).await;
        }
    }

    fn take_endings(&self, payload: &str) {
        match document::decode::<Endings>(payload) {
            Ok(endings) => {
                if let Some(known) = self.room(endings.room.as_str()) {
                    known.take_endings(&endings);
                }
            }
            Err(error) => tracing::warn!(%error, "ended sessions cannot be read"),
        }
    }
}
