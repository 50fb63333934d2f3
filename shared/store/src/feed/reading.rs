//! Reads rooms whose pushes were missed, or that nobody has pushed.

use std::{collections::BTreeSet, sync::atomic::Ordering};

use vestibule_domain::RoomId;

use super::{Feed, KnownRoom, StoredConfig};
use crate::StoreError;

impl Feed {
    /// Returns whether every room that is listed is known now.
    pub(super) async fn read_all(&self) -> Result<bool, StoreError> {
        let listed: BTreeSet<RoomId> = self.0.store.rooms().await?.into_iter().collect();
        self.forget_deleted().await?;
        let unreadable = self.read_each(&listed).await?;
        for known in self.rooms().iter().filter(|known| known.needs_config_or_draws()) {
            match self.refresh_config(known).await {
                Err(StoreError::Rewound | StoreError::Unexpected(_)) | Ok(()) => {}
                Err(error) => return Err(error),
            }
        }
        for known in self.rooms() {
            let room = known.snapshot().room.clone();
            if !listed.contains(&room) {
                self.0.store.list_room(&room).await?;
                self.note_alarm(room).await;
            }
        }
        let has_config = |room: &RoomId| {
            self.room(room.as_str()).is_some_and(|known| known.stored_config().is_some())
        };
        self.0.configs_complete.store(listed.iter().all(has_config), Ordering::Release);
        let is_known = |room: &RoomId| self.room(room.as_str()).is_some();
        Ok(listed.iter().all(|room| is_known(room) || unreadable.contains(room)))
    }

    /// Reads these rooms. Returns those that cannot be read: they keep no other room from being served, unless there is
    /// none that can be read.
    async fn read_each(&self, listed: &BTreeSet<RoomId>) -> Result<BTreeSet<RoomId>, StoreError> {
        let mut unreadable = BTreeSet::new();
        for room in listed {
            match self.read(room).await {
                Err(StoreError::Unexpected(why)) => {
                    unreadable.insert(room.clone());
                    if unreadable.len() == listed.len() {
                        return Err(StoreError::Unexpected(why));
                    }
                    tracing::warn!(%room, %why, "a room cannot be read");
                }
                done => done?,
            }
        }
        Ok(unreadable)
    }

    async fn read(&self, room: &RoomId) -> Result<(), StoreError> {
        if self.room(room.as_str()).is_some_and(|known| known.is_fresh()) {
            return Ok(());
        }
        let _reading = self.0.reading.lock().await;
        match self.0.store.read_snapshot(room).await {
            Ok(Some(snapshot)) => self.receive(snapshot).await,
            Ok(None) | Err(StoreError::Rewound) => {
                // The leader may serve other rooms, and the push that told of this one may be lost.
                self.question(room.clone());
                self.note_alarm(room.clone()).await;
            }
            Err(error) => {
                // The leader can remove what is no room's.
                if matches!(error, StoreError::Unexpected(_)) {
                    self.question(room.clone());
                    self.note_alarm(room.clone()).await;
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
        let _reading = self.0.reading.lock().await;
        let before = known.snapshot();
        let room = &before.room;
        if let Some(config) = self.0.store.read_config(room).await? {
            let draws = self.0.store.read_draws(room).await?;
            known.set_stored_config(&StoredConfig { config, draws }, &before);
            let revoked = self.0.store.revoked_places(room, before.reset_epoch).await?;
            known.take_revoked(before.reset_epoch, revoked);
            self.0.configs_read.fetch_add(1, Ordering::Release);
        }
        Ok(())
    }
}
