//! Reads a room before its next snapshot is due, since something tells of a reset that this service may
//! not have heard of: a reply of Redis, or a visitor with a ticket that does not open.

use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use super::{Feed, KnownRoom};
use crate::StoreError;

/// Between two readings of a room, however many ask: anybody can send tickets that do not open.
const PAUSE: Duration = Duration::from_millis(100);

impl Feed {
    /// Reads `room`. Whoever asks while it is being read waits for the next reading, which all of them
    /// share, even if it fails: while Redis does not answer nobody waits for more than two.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn catch_up(&self, room: &KnownRoom) -> Result<(), StoreError> {
        let asked = Instant::now();
        let mut last = room.last_caught_up().lock().await;
        if let Some((begun, outcome)) = last.as_ref() {
            if *begun >= asked {
                return outcome.clone();
            }
            sleep_until(*begun + PAUSE).await;
        }
        let begun = Instant::now();
        let outcome = self.read_now(room).await;
        *last = Some((begun, outcome.clone()));
        outcome
    }

    async fn read_now(&self, room: &KnownRoom) -> Result<(), StoreError> {
        let _reading = self.0.reading.lock().await;
        if let Some(snapshot) = self.0.store.read_snapshot(&room.snapshot().room).await? {
            self.receive(snapshot).await;
        }
        Ok(())
    }
}
