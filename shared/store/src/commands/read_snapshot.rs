//! Reading a room as it is this moment.

use vestibule_domain::{RoomId, RoomSnapshot};

use super::keys;
use crate::{Store, StoreError, keys::Part, scripts};

impl Store {
    /// The room's snapshot, or `None` when Redis does not hold the room.
    ///
    /// # Errors
    /// As for every call to Redis.
    pub async fn read_snapshot(&self, room: &RoomId) -> Result<Option<RoomSnapshot>, StoreError> {
        let parts = [Part::Line, Part::Settings, Part::Sessions, Part::Rate];
        let mut call = self.timed(&scripts::READ_SNAPSHOT, &keys(room, parts));
        let json: Option<String> = self.run(call.arg(room.as_str())).await?;
        json.map(|json| parse_snapshot(&json)).transpose()
    }
}

/// A snapshot as scripts send it.
pub(crate) fn parse_snapshot(json: &str) -> Result<RoomSnapshot, StoreError> {
    serde_json::from_str(json).map_err(StoreError::unexpected)
}
