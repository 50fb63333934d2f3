//! A Redis into which a restore has begun that has not come to its end, and whose lease is over: it was cut short. What
//! is there is a part of the rooms, without the keys. Made whole, it would stay a part, so nobody does that: whoever
//! leads waits until it was emptied, and says so.
//!
//! Not so if this instance remembers a whole keyspace: then Redis has gone back to the middle of a restore that came to its
//! end, as a replica that lagged, and is brought to its latest state as after any other loss.

use std::time::Duration;

use tokio::time::Instant;
use vestibule_store::StoreError;

use crate::state::Controller;

/// How often it is said.
const SAY: Duration = Duration::from_mins(1);

/// Whether a restore was cut short, and when that was last said.
#[derive(Debug, Default)]
pub(super) struct HalfRestored {
    said_at: Option<Instant>,
}

// === impl HalfRestored ===

impl HalfRestored {
    /// Whether a part of a restore is all that there is; says so once a minute.
    pub(super) async fn is_found(&mut self, controller: &Controller) -> Result<bool, StoreError> {
        if !controller.store.is_half_imported().await? {
            self.said_at = None;
            return Ok(false);
        }
        if controller.knew_keyspace_whole() {
            tracing::warn!("redis had gone back to the middle of a restore");
            controller.store.forget_import().await?;
            return Ok(false);
        }
        let now = Instant::now();
        if self.said_at.is_none_or(|said_at| said_at + SAY <= now) {
            self.said_at = Some(now);
            tracing::error!(
                "a restore into this redis was cut short, and a part of the rooms is there: stop all services, empty this redis, of a cluster every server, restore again, and start them"
            );
        }
        Ok(true)
    }
}
