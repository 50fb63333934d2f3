//! What time it is in the deployment, for services that have seen no room yet.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::time::{Instant, sleep};

use crate::{Clock, Store, StoreError, keys::CLOCK, scripts};

/// Whoever runs says what time it is several times in this time.
const PATIENCE: Duration = Duration::from_millis(1_500);
/// How often a service that does not know it asks.
const ASK_EVERY: Duration = Duration::from_millis(250);

#[derive(Serialize)]
struct Arguments {
    about_ms: Option<u64>,
    accepts: bool,
}

#[derive(Deserialize)]
struct Reply {
    now_ms: Option<u64>,
}

impl Store {
    /// Learns what time it is, which must come before anything is done with rooms: the server's clock may have jumped
    /// just before. Where nobody says so in time, the server's clock is right.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn learn_time(&self) -> Result<(), StoreError> {
        let until = Instant::now() + PATIENCE;
        while self.is_time_unknown() {
            self.ask_time(Instant::now() >= until).await?;
            if self.is_time_unknown() {
                sleep(ASK_EVERY).await;
            }
        }
        Ok(())
    }

    /// Says what time it is, for services that start. Who does not know it learns it.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn tell_time(&self) -> Result<(), StoreError> {
        self.learn_time().await?;
        // Nothing runs by itself where a test holds the clock.
        if matches!(self.clock(), Clock::Server) { self.ask_time(false).await } else { Ok(()) }
    }

    fn is_time_unknown(&self) -> bool {
        matches!(self.clock(), Clock::Server) && self.memory().about_ms().is_none()
    }

    async fn ask_time(&self, accepts: bool) -> Result<(), StoreError> {
        let arguments = Arguments { about_ms: self.memory().about_ms(), accepts };
        let reply: Reply = self.call_on(&scripts::TELL_TIME, &[CLOCK], &arguments).await?;
        if let Some(now_ms) = reply.now_ms {
            self.memory().note_time(now_ms);
        }
        Ok(())
    }
}
