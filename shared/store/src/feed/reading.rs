//! Reads rooms whose pushes were missed, or that nobody has pushed.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::atomic::Ordering,
};

use vestibule_domain::RoomId;

use super::{Feed, KnownRoom, StoredConfig};
use crate::StoreError;

/// Shards that were found away in one reading of all rooms, and how.
#[derive(Debug, Default)]
struct Away(BTreeMap<String, StoreError>);

// === impl Away ===

impl Away {
    fn into_result(self) -> Result<(), StoreError> {
        self.0.into_values().next().map_or(Ok(()), Err)
    }
}

// === impl Feed ===

impl Feed {
    /// Returns whether every room that is listed is known now.
    pub(super) async fn read_all(&self) -> Result<bool, StoreError> {
        let listed: BTreeSet<RoomId> = match self.0.store.rooms().await {
            Ok(listed) => listed.into_iter().collect(),
            Err(error) => return Err(self.read_without_list(error).await),
        };
        self.0.has_list.store(true, Ordering::Relaxed);
        self.forget_deleted().await?;
        // Of a shard that is away no room is read; what follows is of the others, too.
        let mut away = Away::default();
        let unreadable = self.read_each(&listed, &mut away).await;
        self.read_configs(&mut away).await;
        for known in self.rooms() {
            let room = known.snapshot().room.clone();
            if !listed.contains(&room) {
                self.0.store.list_room(&room).await?;
                self.note_alarm(room);
            }
        }
        let has_config = |room: &RoomId| {
            self.room(room.as_str()).is_some_and(|known| known.stored_config().is_some())
        };
        self.0.configs_complete.store(listed.iter().all(has_config), Ordering::Release);
        let unreadable = unreadable?;
        away.into_result()?;
        let is_known = |room: &RoomId| self.room(room.as_str()).is_some();
        Ok(listed.iter().all(|room| is_known(room) || unreadable.contains(room)))
    }

    /// The list did not come, by `error`, which is returned: of a Cluster, only its shard may be away.
    async fn read_without_list(&self, error: StoreError) -> StoreError {
        if self.0.store.link().has_shards() {
            let known = self.0.rooms.load().keys().cloned().collect();
            // How it fails is told already.
            let _ = self.read_each(&known, &mut Away::default()).await;
        }
        error
    }

    /// Reads these rooms. Returns those that cannot be read: they keep no other room from being served, unless there is
    /// none that can be read.
    ///
    /// Nor does a shard that is away: it is asked for one of its rooms, and those of others are read.
    async fn read_each(
        &self,
        listed: &BTreeSet<RoomId>,
        away: &mut Away,
    ) -> Result<BTreeSet<RoomId>, StoreError> {
        let mut unreadable = BTreeSet::new();
        for room in listed {
            let shard = self.0.store.shard_of(room);
            if away.0.contains_key(&shard) {
                continue;
            }
            match self.read(room).await {
                Err(StoreError::Unexpected(why)) => {
                    unreadable.insert(room.clone());
                    if unreadable.len() == listed.len() {
                        return Err(StoreError::Unexpected(why));
                    }
                    tracing::warn!(%room, %why, "a room cannot be read");
                }
                Err(error) => drop(away.0.insert(shard, error)),
                Ok(()) => {}
            }
        }
        Ok(unreadable)
    }

    /// Reads the configs and draws that may be others than those known.
    async fn read_configs(&self, away: &mut Away) {
        for known in self.rooms().iter().filter(|known| known.needs_config_or_draws()) {
            let shard = self.0.store.shard_of(&known.snapshot().room);
            if away.0.contains_key(&shard) {
                continue;
            }
            match self.refresh_config(known).await {
                Err(error) if !is_of_the_room(&error) => drop(away.0.insert(shard, error)),
                Err(_) | Ok(()) => {}
            }
        }
    }

    async fn read(&self, room: &RoomId) -> Result<(), StoreError> {
        if self.room(room.as_str()).is_some_and(|known| known.is_fresh()) {
            return Ok(());
        }
        let lock = self.0.reading.of(room);
        let _reading = lock.lock().await;
        match self.0.store.read_snapshot(room).await {
            Ok(Some(snapshot)) => self.receive(snapshot).await,
            Ok(None) | Err(StoreError::Rewound) => {
                // The leader may serve other rooms, and the push that told of this one may be lost.
                self.question(room.clone());
                self.note_alarm(room.clone());
            }
            Err(error) => {
                // The leader can remove what is no room's.
                if matches!(error, StoreError::Unexpected(_)) {
                    self.question(room.clone());
                    self.note_alarm(room.clone());
                }
                return Err(error);
            }
        }
        Ok(())
    }

    /// Reads a room's config and draws. If Redis has lost them, the remembered ones stay.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn refresh_config(&self, known: &KnownRoom) -> Result<(), StoreError> {
        let lock = self.0.reading.of(&known.snapshot().room);
        let _reading = lock.lock().await;
        let before = known.snapshot();
        let room = &before.room;
        if let Some(config) = self.0.store.read_config(room).await? {
            let draws = self.0.store.read_draws(room).await?;
            known.set_stored_config(&StoredConfig { config, draws }, &before);
            let revoked = self.0.store.revoked_places(room, before.reset_epoch).await?;
            self.recall(known, &before, &revoked).await?;
            known.take_revoked(before.reset_epoch, revoked);
            self.0.configs_read.fetch_add(1, Ordering::Release);
        }
        Ok(())
    }
}

/// Whether others may be read though this one cannot.
fn is_of_the_room(error: &StoreError) -> bool {
    matches!(error, StoreError::Rewound | StoreError::RoomMissing | StoreError::Unexpected(_))
}
