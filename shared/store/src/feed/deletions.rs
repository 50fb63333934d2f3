//! Deletions: a room is forgotten only because somebody says that it was deleted, by a push or by a tombstone.

use std::collections::BTreeMap;

use vestibule_domain::RoomId;

use super::Feed;
use crate::StoreError;

// === impl Feed ===

impl Feed {
    /// Forgets a room that was deleted.
    pub async fn forget(&self, room: &RoomId) {
        self.0.store.memory().forget(room);
        self.change(|rooms| drop(rooms.remove(room))).await;
    }

    /// Forgets the rooms that were deleted.
    pub(super) async fn forget_deleted(&self) -> Result<(), StoreError> {
        let tombstones = self.0.store.tombstones().await?;
        for (room, epoch) in tombstones {
            self.bury(room, epoch).await;
        }
        Ok(())
    }

    /// Takes in that the room of this name and of epochs up to `reset_epoch` was deleted.
    async fn bury(&self, room: RoomId, reset_epoch: u64) {
        let known = self.room(room.as_str());
        if known.is_some_and(|known| known.snapshot().reset_epoch <= reset_epoch) {
            self.forget(&room).await;
        }
        let mut buried = self.0.buried.lock().await;
        let epoch = buried.entry(room).or_default();
        *epoch = reset_epoch.max(*epoch);
    }

    /// The rooms that are known to have been deleted, and their reset epochs then.
    pub async fn buried(&self) -> BTreeMap<RoomId, u64> {
        self.0.buried.lock().await.clone()
    }

    /// Takes in a deletion: the room's name, and its reset epoch. What cannot be read is found by the slow poll.
    pub(super) async fn take_deletion(&self, payload: &str) {
        let (name, epoch) = payload.split_once(' ').unwrap_or((payload, ""));
        let Ok(room) = RoomId::new(name) else { return };
        if let Ok(epoch) = epoch.parse() {
            self.bury(room, epoch).await;
        } else if epoch.is_empty() {
            self.finish_deletion(room).await;
        }
    }

    /// A release without tombstones has deleted the room of this name, and names it alone. So it is the one that is
    /// known here, unless it is there again; without a tombstone whoever has missed this push would bring it back.
    async fn finish_deletion(&self, room: RoomId) {
        let Some(known) = self.room(room.as_str()) else { return };
        let epoch = known.snapshot().reset_epoch;
        match self.entomb(&room, epoch).await {
            Ok(true) => self.bury(room, epoch).await,
            Ok(false) => {}
            Err(error) => {
                tracing::warn!(%room, %error, "a deletion could not be finished: delete it again");
            }
        }
    }

    /// Leaves a tombstone for a room that is not stored any more; returns whether that is so.
    async fn entomb(&self, room: &RoomId, epoch: u64) -> Result<bool, StoreError> {
        let store = &self.0.store;
        if store.is_stored(room).await? {
            return Ok(false);
        }
        store.bury(room, epoch).await?;
        // Somebody who knew no tombstone may have listed it again.
        store.unlist_room(room).await?;
        Ok(true)
    }
}
