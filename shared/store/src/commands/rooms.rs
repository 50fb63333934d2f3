//! The list of rooms, and one room as it is this moment.

use vestibule_domain::{RoomId, RoomSnapshot};

use super::RoomOnly;
use crate::{Store, StoreError, keys::ROOMS, scripts};

impl Store {
    /// The rooms there are, by name.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn rooms(&self) -> Result<Vec<RoomId>, StoreError> {
        let names: Vec<String> = self.query(redis::cmd("SMEMBERS").arg(ROOMS)).await?;
        let mut rooms: Vec<_> =
            names.into_iter().filter_map(|name| RoomId::new(name).ok()).collect();
        rooms.sort();
        Ok(rooms)
    }

    /// The room's snapshot, or `None` when Redis does not hold the room.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn read_snapshot(&self, room: &RoomId) -> Result<Option<RoomSnapshot>, StoreError> {
        self.call(&scripts::READ_SNAPSHOT, room, &RoomOnly { room }).await
    }
}
