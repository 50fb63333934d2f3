//! Closing a room before it is copied for good.

use serde::{Deserialize, Serialize};
use vestibule_domain::RoomId;

use crate::{Store, StoreError, scripts};

#[derive(Serialize)]
struct Arguments {}

#[derive(Deserialize)]
struct Reply {}

impl Store {
    /// Ends all that may change the room, so that a copy of it is its latest state. A leader who finds it so opens it
    /// again.
    ///
    /// # Errors
    /// [`StoreError::RoomMissing`], [`StoreError::Rewound`] if its state may not be the latest; otherwise see
    /// [`StoreError`].
    pub async fn close_room(&self, room: &RoomId) -> Result<(), StoreError> {
        let Reply {} = self.call(&scripts::CLOSE_ROOM, room, &Arguments {}).await?;
        Ok(())
    }
}
