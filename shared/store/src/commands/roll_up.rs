//! Moves closed minutes into the traffic history.

use serde::{Deserialize, Serialize};
use vestibule_domain::RoomId;

use super::history::{DAYS_KEPT, MINUTES_PER_DAY};
use crate::{Store, StoreError, keys::RoomKeys, scripts};

#[derive(Serialize)]
struct Arguments {
    leader_epoch: u64,
    first: u64,
    last: u64,
    kept_seconds: u64,
}

#[derive(Deserialize)]
struct Reply {
    moved: u64,
}

impl Store {
    /// Moves the counts of day `day` (days since 1970) up to minute `last` (minutes since 1970)
    /// into the history; returns how many moved. Refused for a stale leader.
    ///
    /// # Errors
    /// [`StoreError::RoomMissing`], [`StoreError::Fenced`]; otherwise see [`StoreError`].
    pub async fn roll_up(
        &self,
        room: &RoomId,
        epoch: u64,
        day: u64,
        last: u64,
    ) -> Result<u64, StoreError> {
        let mut keys = scripts::ROLL_UP.keys(room);
        keys.push(RoomKeys(room).history(day));
        let first = day * MINUTES_PER_DAY;
        let arguments = Arguments {
            leader_epoch: epoch,
            first,
            last: last.min(first + MINUTES_PER_DAY - 1),
            kept_seconds: (DAYS_KEPT + 1) * 24 * 3600,
        };
        let reply: Reply = self.call_on(&scripts::ROLL_UP, &keys, &arguments).await?;
        Ok(reply.moved)
    }
}
