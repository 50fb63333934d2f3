//! Incrementing: an operator moves the serving counter.

use vestibule_domain::RoomId;

use super::keys;
use crate::{Store, StoreError, keys::Part, scripts};

impl Store {
    /// Moves the serving counter by `by`, which may be negative or 0; returns where it stands.
    ///
    /// # Errors
    /// [`StoreError::RoomMissing`], or as for every call to Redis.
    pub async fn increment(&self, room: &RoomId, by: i64) -> Result<i64, StoreError> {
        let parts = [Part::Line, Part::Settings, Part::Sessions, Part::Rate, Part::Rows];
        let mut call = self.timed(&scripts::INCREMENT, &keys(room, parts));
        self.run(call.arg(room.as_str()).arg(by)).await
    }
}
