//! Following operators' changes: an instance takes each in, and then says so in Redis. So whoever
//! made a change can wait until every instance goes by it.
//!
//! The push only makes it fast. What was pushed while the connection was down is found by asking,
//! because the instance asks by the last revision that it has taken in.

use tokio::time::timeout;
use vestibule_domain::RoomId;

use super::{Feed, POLL};
use crate::StoreError;

// === impl Feed ===

impl Feed {
    /// Takes in changes until it is dropped, as [`Self::take_in_changes`] does.
    pub async fn follow_changes(&self, adopt: impl Fn()) {
        loop {
            if let Err(error) = self.take_in_changes(&adopt).await {
                tracing::debug!(%error, "changes of rooms could not be read");
            }
            // Woken by the push, or by the time.
            let _ = timeout(POLL, self.0.changed.notified()).await;
        }
    }

    /// Takes in all changes since the last time; the first time, all rooms. Calls `adopt` after
    /// the memory has changed, and tells Redis only then that this instance goes by the changes.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn take_in_changes(&self, adopt: impl Fn()) -> Result<(), StoreError> {
        let mut taken = self.0.taken.lock().await;
        loop {
            let changes = self.0.store.take_changes(&self.0.instance, *taken).await?;
            if *taken == Some(changes.revision) {
                return Ok(());
            }
            if taken.is_none() {
                self.refresh().await?;
            }
            for room in &changes.rooms {
                self.take_in(room).await?;
            }
            adopt();
            *taken = Some(changes.revision);
        }
    }

    /// Says that this instance stops: nobody waits for it any more.
    pub async fn take_in_no_more(&self) {
        // Without Redis the others find out after a few seconds.
        let _ = self.0.store.take_no_more_changes(&self.0.instance).await;
    }

    /// Reads a room anew, with its config, or forgets it if it was deleted.
    async fn take_in(&self, room: &RoomId) -> Result<(), StoreError> {
        let known = {
            let _reading = self.0.reading.lock().await;
            match self.0.store.read_snapshot(room).await? {
                Some(snapshot) => self.receive(snapshot).await,
                None if self.is_deleted(room).await? => self.forget(room).await,
                // It was lost, and will be restored from memories like this one.
                None => {}
            }
            self.room(room.as_str())
        };
        match known {
            Some(known) => self.refresh_config(&known).await,
            None => Ok(()),
        }
    }

    async fn is_deleted(&self, room: &RoomId) -> Result<bool, StoreError> {
        let store = &self.0.store;
        Ok(!store.rooms().await?.contains(room) && store.schema().await? > 0)
    }
}
