//! Reads a room before its next snapshot is due, since something tells of a reset that this service may
//! not have heard of: a reply of Redis, or a visitor with a ticket that does not open.

use super::{Feed, KnownRoom};
use crate::StoreError;

impl Feed {
    /// Reads `room`. Whoever asks while it is being read waits for the next reading, which all of them share.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn catch_up(&self, room: &KnownRoom) -> Result<(), StoreError> {
        room.catching_up().share(async || self.read_now(room).await).await
    }

    async fn read_now(&self, room: &KnownRoom) -> Result<(), StoreError> {
        let name = &room.snapshot().room;
        let lock = self.0.reading.of(name);
        let _reading = lock.lock().await;
        if let Some(snapshot) = self.0.store.read_snapshot(name).await? {
            self.receive(snapshot).await;
        }
        Ok(())
    }
}
