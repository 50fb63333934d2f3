//! Where a room's serving counter stands, and what of that is operators' doing.

use vestibule_domain::{RoomId, room_news::ServingWatch};

use super::RoomOnly;
use crate::{Store, StoreError, scripts};

impl Store {
    /// Reads it, all at one moment.
    ///
    /// # Errors
    /// [`StoreError::RoomMissing`]; otherwise see [`StoreError`].
    pub async fn serving(&self, room: &RoomId) -> Result<ServingWatch, StoreError> {
        self.call(&scripts::READ_SERVING, room, &RoomOnly { room }).await
    }
}
