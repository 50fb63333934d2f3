//! Resetting a room to its initial state.

use serde::Deserialize;
use vestibule_domain::RoomId;

use super::RoomOnly;
use crate::{Store, StoreError, scripts};

#[derive(Deserialize)]
struct Reply {
    reset_epoch: u64,
}

impl Store {
    /// Starts a room afresh, atomically: numbers begin at 1, every earlier request id, ticket and
    /// session is void; the settings stay. Returns the new reset epoch.
    ///
    /// # Errors
    /// [`StoreError::RoomMissing`]; otherwise see [`StoreError`].
    pub async fn reset(&self, room: &RoomId) -> Result<u64, StoreError> {
        let reply: Reply = self.call(&scripts::RESET, room, &RoomOnly { room }).await?;
        Ok(reply.reset_epoch)
    }
}
