//! Moves closed minutes into the traffic history.

use serde::{Deserialize, Serialize};
use vestibule_domain::RoomId;

use super::history::{KEPT_SECONDS, MINUTES_KEPT_SECONDS, MINUTES_PER_DAY, keys_of_day};
use crate::{Store, StoreError, scripts};

#[derive(Serialize)]
struct Arguments {
    leader_epoch: u64,
    first: u64,
    last: u64,
    minutes_kept_seconds: u64,
    kept_seconds: u64,
}

/// What became of a room's open counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RolledUp {
    /// How many moved into the history.
    pub moved: u64,
    /// How many are left.
    pub open: u64,
    /// The oldest minute of those, since 1970.
    pub oldest: Option<u64>,
}

#[derive(Deserialize)]
struct Reply {
    moved: u64,
    open: u64,
    oldest: Option<u64>,
    more: bool,
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
        let history = keys_of_day(room, day);
        let first = day * MINUTES_PER_DAY;
        let arguments = Arguments {
            leader_epoch: epoch,
            first,
            last: last.min(first + MINUTES_PER_DAY - 1),
            minutes_kept_seconds: MINUTES_KEPT_SECONDS,
            kept_seconds: KEPT_SECONDS,
        };
        let mut moved = 0;
        loop {
            let reply: Reply =
                self.call_with(&scripts::ROLL_UP, room, &history, &arguments).await?;
            moved += reply.moved;
            if !reply.more {
                let Reply { open, oldest, .. } = reply;
                return Ok(RolledUp { moved, open, oldest });
            }
        }
    }
}
