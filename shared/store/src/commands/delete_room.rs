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
    is_later: bool,
}

impl Store {
    /// Deletes a room with all that belongs to it, its history included; returns whether there
    /// was one.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn delete_room(&self, room: &RoomId) -> Result<bool, StoreError> {
        let noting = self.noting(Some(room), || vec![Call::Delete]).await;
        let reply = self.delete_latest(room).await;
        if let Some(noting) = noting {
            noting.answer(&reply, |reply| What::Deleted { existed: reply.existed });
        }
        Ok(reply?.existed)
    }

    /// Finishes a deletion that was cut short, or that Redis has lost: the room of this name goes if it is of an epoch up
    /// to `reset_epoch`. A later one is another room, whatever Redis remembers of it.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn finish_deletion(&self, room: &RoomId, reset_epoch: u64) -> Result<(), StoreError> {
        let reply = self.delete_upto(room, reset_epoch).await?;
        // It was made meanwhile.
        if reply.is_later { self.list_room(room).await } else { Ok(()) }
    }

    async fn delete_latest(&self, room: &RoomId) -> Result<Reply, StoreError> {
        loop {
            let reset_epoch = self.reset_epoch(room).await?.unwrap_or(0);
            let reply = self.delete_upto(room, reset_epoch).await?;
            // It was reset meanwhile.
            if !reply.is_later {
                return Ok(reply);
            }
        }
    }

    async fn delete_upto(&self, room: &RoomId, reset_epoch: u64) -> Result<Reply, StoreError> {
        let today = day_of(self.now_ms().await? / 60_000);
        let days = today.saturating_sub(DAYS_KEPT)..=today;
        let history: Vec<_> = days.map(|day| RoomKeys(room).history(day)).collect();
        // First, so that no leader restores the room.
        self.bury(room, reset_epoch).await?;
        self.unlist_room(room).await?;
        let arguments = Arguments { room, reset_epoch };
        let reply: Reply =
            self.call_with(&scripts::DELETE_ROOM, room, &history, &arguments).await?;
        if self.memory().room(room).reset_epoch().is_none_or(|seen| seen <= reset_epoch) {
            self.memory().forget(room);
        }
        Ok(reply)
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
