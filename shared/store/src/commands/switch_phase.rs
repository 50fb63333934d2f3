//! Switches to another phase of a room's config, when an event begins or ends.

use serde::{Deserialize, Serialize};
use vestibule_domain::{RoomId, schedule::RoomConfig};

use super::phases::Phases;
use crate::{Store, StoreError, scripts};

#[derive(Serialize)]
struct Arguments<'a> {
    room: &'a RoomId,
    leader_epoch: u64,
    version: u64,
    phases: Phases,
}

#[derive(Deserialize)]
struct Reply {
    switched: bool,
}

impl Store {
    /// Writes which phase of `config` is current at `now_ms`. Returns `false` and writes nothing if the
    /// config has changed since. Refused for a stale leader.
    ///
    /// # Errors
    /// [`StoreError::RoomMissing`], [`StoreError::Fenced`]; otherwise see [`StoreError`].
    pub async fn switch_phase(
        &self,
        room: &RoomId,
        epoch: u64,
        config: &RoomConfig,
        now_ms: u64,
    ) -> Result<bool, StoreError> {
        let (version, phases) = (config.version, Phases::new(config, now_ms)?);
        let arguments = Arguments { room, leader_epoch: epoch, version, phases };
        let reply: Reply = self.call(&scripts::SWITCH_PHASE, room, &arguments).await?;
        Ok(reply.switched)
    }
}
