//! The list of rooms.

use vestibule_domain::RoomId;

use crate::{Store, StoreError, keys::ROOMS};

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
}
