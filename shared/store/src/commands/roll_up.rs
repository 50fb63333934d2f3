//! Moves closed minutes into the traffic history.

use serde::{Deserialize, Serialize};
use vestibule_domain::RoomId;

use super::history::{KEPT_SECONDS, MINUTES_PER_DAY};
use crate::{Store, StoreError, keys::RoomKeys, scripts};

#[derive(Serialize)]
struct Arguments {
    leader_epoch: u64,
    first: u64,
    last: u64,
    kept_seconds: u64,
}

/// What became of a room's open counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct RolledUp {
    /// How many moved into the history.
    pub moved: u64,
    /// How many are left.
    pub open: u64,
}

impl Store {
    /// Moves the counts of day `day` (days since 1970) up to minute `last` (minutes since 1970)
    /// into the history. Refused for a stale leader.
    ///
    /// # Errors
    /// [`StoreError::RoomMissing`], [`StoreError::Fenced`]; otherwise see [`StoreError`].
    pub async fn roll_up(
        &self,
        room: &RoomId,
        epoch: u64,
        day: u64,
        last: u64,
    ) -> Result<RolledUp, StoreError> {
        let history = [RoomKeys(room).history(day)];
        let first = day * MINUTES_PER_DAY;
        let arguments = Arguments {
            leader_epoch: epoch,
            first,
            last: last.min(first + MINUTES_PER_DAY - 1),
            kept_seconds: KEPT_SECONDS,
        };
        self.call_with(&scripts::ROLL_UP, room, &history, &arguments).await
    }
}
