//! The list of rooms, and one room as it is this moment.

use vestibule_domain::{RoomId, RoomSnapshot};

use super::RoomOnly;
use crate::{
    Store, StoreError,
    keys::{ALARMS, Part, ROOMS, RoomKeys},
    recording::answers,
    scripts,
};

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

    /// Lists a room that the list has lost.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn list_room(&self, room: &RoomId) -> Result<(), StoreError> {
        self.query(redis::cmd("SADD").arg(ROOMS).arg(room.as_str())).await
    }

    /// Says to everybody that something is wrong with a room, so that the leader looks.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn raise_alarm(&self, room: &RoomId) -> Result<(), StoreError> {
        if self.pushes_sharded() {
            let alarm = format!("alarms {room}");
            return self
                .query(redis::cmd("SPUBLISH").arg(RoomKeys(room).pushes()).arg(alarm))
                .await;
        }
        self.query(redis::cmd("PUBLISH").arg(ALARMS).arg(room.as_str())).await
    }

    /// Takes a room off the list.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn unlist_room(&self, room: &RoomId) -> Result<(), StoreError> {
        self.query(redis::cmd("SREM").arg(ROOMS).arg(room.as_str())).await
    }

    /// Whether a room of this name is stored that is no later than `reset_epoch`.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn is_buried(&self, room: &RoomId, reset_epoch: u64) -> Result<bool, StoreError> {
        Ok(self.stored_epoch(room).await?.is_some_and(|stored| stored <= reset_epoch))
    }

    /// Whether a room of this name is stored.
    pub(crate) async fn is_stored(&self, room: &RoomId) -> Result<bool, StoreError> {
        Ok(self.stored_epoch(room).await?.is_some())
    }

    /// The reset epoch of the room of this name that is stored.
    pub(crate) async fn stored_epoch(&self, room: &RoomId) -> Result<Option<u64>, StoreError> {
        let key = RoomKeys(room).key(Part::Line);
        self.query(redis::cmd("HGET").arg(key).arg("reset_epoch")).await
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
