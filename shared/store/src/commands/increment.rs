//! An operator moves the serving counter.

use serde::{Deserialize, Serialize};
use vestibule_domain::RoomId;

use crate::{Store, StoreError, scripts};

#[derive(Serialize)]
struct Arguments<'a> {
    room: &'a RoomId,
    by: i64,
}

#[derive(Deserialize)]
struct Reply {
    serving_counter: i64,
}

impl Store {
    /// Moves the serving counter by `by`, which may be negative or 0; returns where it stands.
    ///
    /// # Errors
    /// [`StoreError::RoomMissing`]; otherwise see [`StoreError`].
    pub async fn increment(&self, room: &RoomId, by: i64) -> Result<i64, StoreError> {
        let reply: Reply = self.call(&scripts::INCREMENT, room, &Arguments { room, by }).await?;
        Ok(reply.serving_counter)
    }
}
