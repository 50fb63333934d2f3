//! Deleting a room.

use serde::{Deserialize, Serialize};
use vestibule_domain::RoomId;
use vestibule_history::{Call, What};

use super::history::{DAYS_KEPT, day_of};
use crate::{Store, StoreError, keys::RoomKeys, scripts};

#[derive(Serialize)]
struct Arguments<'a> {
    room: &'a RoomId,
    reset_epoch: u64,
}

#[derive(Deserialize)]
struct Reply {
    existed: bool,
}

impl Store {
    /// Deletes a room with all that belongs to it, its history included; returns whether there
    /// was one.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn delete_room(&self, room: &RoomId) -> Result<bool, StoreError> {
        let today = day_of(self.now_ms().await? / 60_000);
        let days = today.saturating_sub(DAYS_KEPT)..=today;
        let history: Vec<_> = days.map(|day| RoomKeys(room).history(day)).collect();
        let reset_epoch = self.reset_epoch(room).await?.unwrap_or(0);
        let noting = self.noting(Some(room), || vec![Call::Delete]).await;
        // First, so that no leader restores the room.
        self.bury(room, reset_epoch).await?;
        self.unlist_room(room).await?;
        let reply: Result<Reply, _> = self
            .call_with(&scripts::DELETE_ROOM, room, &history, &Arguments { room, reset_epoch })
            .await;
        if let Some(noting) = noting {
            noting.answer(&reply, |reply| What::Deleted { existed: reply.existed });
        }
        let existed = reply?.existed;
        self.memory().forget(room);
        Ok(existed)
    }

    /// The latest reset epoch of `room` that is stored or was seen.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn reset_epoch(&self, room: &RoomId) -> Result<Option<u64>, StoreError> {
        let stored = self.stored_epoch(room).await?;
        Ok(stored.max(self.memory().room(room).reset_epoch()))
    }
}
