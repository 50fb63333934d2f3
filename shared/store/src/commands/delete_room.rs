//! Deleting a room.

use serde::Deserialize;
use vestibule_domain::RoomId;
use vestibule_history::{Call, What};

use super::{
    RoomOnly,
    history::{DAYS_KEPT, day_of},
};
use crate::{
    Store, StoreError,
    keys::{ROOMS, RoomKeys},
    scripts,
};

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
        let mut keys = scripts::DELETE_ROOM.keys(room);
        let days = today.saturating_sub(DAYS_KEPT)..=today;
        keys.extend(days.map(|day| RoomKeys(room).history(day)));
        let noting = self.noting(Some(room), || vec![Call::Delete]).await;
        // Removed from the list first, so that no leader restores the room.
        self.query::<()>(redis::cmd("SREM").arg(ROOMS).arg(room.as_str())).await?;
        let reply: Result<Reply, _> =
            self.call_on(&scripts::DELETE_ROOM, &keys, &RoomOnly { room }).await;
        if let Some(noting) = noting {
            noting.answer(&reply, |reply| What::Deleted { existed: reply.existed });
        }
        Ok(reply?.existed)
    }
}
