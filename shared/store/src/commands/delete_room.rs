//! Deleting a room.

use vestibule_domain::RoomId;

use super::history::{DAYS_KEPT, day_of};
use crate::{
    Store, StoreError,
    keys::{Part, ROOMS, RoomKeys},
    scripts,
};

impl Store {
    /// Deletes a room with all that belongs to it, its history included; says whether there was
    /// one.
    ///
    /// # Errors
    /// As for every call to Redis.
    pub async fn delete_room(&self, room: &RoomId) -> Result<bool, StoreError> {
        let parts = [Part::Line, Part::Settings, Part::Draws].into_iter().chain(Part::EMPTIED);
        let mut keys: Vec<_> = parts.map(|part| RoomKeys(room).key(part)).collect();
        let today = day_of(self.now_ms().await? / 60_000);
        keys.extend(
            (today.saturating_sub(DAYS_KEPT)..=today).map(|day| RoomKeys(room).history(day)),
        );
        // Off the list first, so that no leader restores it.
        self.query::<()>(redis::cmd("SREM").arg(ROOMS).arg(room.as_str())).await?;
        self.run(Self::untimed(&scripts::DELETE_ROOM, &keys).arg(room.as_str())).await
    }
}
