//! Resetting a room to its initial state.

use vestibule_domain::RoomId;

use crate::{
    Store, StoreError,
    keys::{Part, RoomKeys},
    scripts,
};

impl Store {
    /// Starts a room afresh, atomically: numbers begin at 1, every earlier request id, ticket and
    /// session is void; the settings stay. Returns the new reset epoch.
    ///
    /// # Errors
    /// [`StoreError::RoomMissing`], or as for every call to Redis.
    pub async fn reset(&self, room: &RoomId) -> Result<u64, StoreError> {
        let parts = [Part::Line, Part::Settings].into_iter().chain(Part::EMPTIED);
        let keys: Vec<_> = parts.map(|part| RoomKeys(room).key(part)).collect();
        self.run(self.timed(&scripts::RESET, &keys).arg(room.as_str())).await
    }
}
