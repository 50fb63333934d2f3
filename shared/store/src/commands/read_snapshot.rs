//! Reading a room as it is this moment.

use vestibule_domain::{RoomId, RoomSnapshot};

use super::RoomOnly;
use crate::{Store, StoreError, scripts};

impl Store {
    /// The room's snapshot, or `None` when Redis does not hold the room.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn read_snapshot(&self, room: &RoomId) -> Result<Option<RoomSnapshot>, StoreError> {
        self.call(&scripts::READ_SNAPSHOT, room, &RoomOnly { room }).await
    }
}
