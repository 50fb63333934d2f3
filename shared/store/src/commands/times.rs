//! What time it is. Rooms, and all that services decide by a time, go by a steady one, which follows no jump of the
//! server's clock (`lib/clock.lua`). The server's own clock is asked only for what is compared with what it has dated, or by
//! others with their clocks.

use tokio::time::Instant;
use vestibule_domain::RoomId;

use crate::{Clock, Store, StoreError, memory::CLOCK_TOLERANCE_MS};

impl Store {
    /// The time of the deployment, ms, as this service has measured it since it was told last: what belongs to no room
    /// goes by it. Redis is asked only by who was never told.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn now_ms(&self) -> Result<u64, StoreError> {
        if let Clock::Manual(clock) = self.clock() {
            return Ok(clock.now_ms());
        }
        self.learn_time().await?;
        let told = self.memory().about_ms();
        told.ok_or_else(|| StoreError::Unavailable("nobody has said what time it is".into()))
    }

    /// The time in `room`, ms, as this service has measured it since it heard of the room; of one that it has not heard of
    /// it is the deployment's.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn now_ms_in(&self, room: &RoomId) -> Result<u64, StoreError> {
        let heard = match self.clock() {
            Clock::Server => self.memory().room(room).about_ms(),
            Clock::Manual(_) => None,
        };
        match heard {
            Some(now_ms) => Ok(now_ms),
            None => self.now_ms().await,
        }
    }

    /// A moment that has come in `room`, ms. Its time may be behind what this service takes it for, by less than what
    /// would be taken for a jump; and a phase that is written too early has begun too early, while scripts turn the page
    /// by themselves if it is written for a moment ago.
    pub(crate) async fn reached_ms_in(&self, room: &RoomId) -> Result<u64, StoreError> {
        let now_ms = self.now_ms_in(room).await?;
        match self.clock() {
            Clock::Server => Ok(now_ms.saturating_sub(CLOCK_TOLERANCE_MS)),
            Clock::Manual(_) => Ok(now_ms),
        }
    }

    /// The server's own clock, ms, which may jump; or the test's. For what is compared with what that clock has dated.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn server_now_ms(&self) -> Result<u64, StoreError> {
        if let Clock::Manual(clock) = self.clock() {
            return Ok(clock.now_ms());
        }
        let sent = Instant::now();
        let (seconds, micros): (u64, u64) = self.query(&redis::cmd("TIME")).await?;
        let now_ms = seconds * 1000 + micros / 1000;
        self.note_time(sent, now_ms);
        Ok(now_ms)
    }
}
