//! The list of rooms, and one room as it is this moment.

use vestibule_domain::{RoomId, RoomSnapshot};

use super::RoomOnly;
use crate::{Store, StoreError, keys::ROOMS, recording::answers, scripts};

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
        let noting = self.noting(Some(room), Vec::new).await;
        let read: Result<Option<RoomSnapshot>, _> =
            self.call(&scripts::READ_SNAPSHOT, room, &RoomOnly { room }).await;
        if let Some(noting) = noting {
            let at = |read: &Option<RoomSnapshot>| read.as_ref().map(|read| read.now_ms);
            noting.settle(&read, at, |read| vec![answers::snapshot_read(read.as_ref())]);
        }
        read
    }
}
