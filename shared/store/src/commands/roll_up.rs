//! Rolling up: closed minutes move into the traffic history.

use vestibule_domain::RoomId;

use super::history::{DAYS_KEPT, MINUTES_PER_DAY};
use crate::{
    Store, StoreError,
    keys::{Part, RoomKeys},
    scripts,
};

impl Store {
    /// Moves the counts of day `day` (days since 1970) up to minute `last` (minutes since 1970)
    /// into the history; returns how many moved. Refused for a stale leader.
    ///
    /// # Errors
    /// [`StoreError::RoomMissing`], [`StoreError::Fenced`], or as for every call to Redis.
    pub async fn roll_up(
        &self,
        room: &RoomId,
        epoch: u64,
        day: u64,
        last: u64,
    ) -> Result<u64, StoreError> {
        let room = RoomKeys(room);
        let keys = [room.key(Part::Line), room.key(Part::Traffic), room.history(day)];
        let first = day * MINUTES_PER_DAY;
        let mut call = Self::untimed(&scripts::ROLL_UP, &keys);
        call.arg(epoch).arg(first).arg(last.min(first + MINUTES_PER_DAY - 1));
        call.arg((DAYS_KEPT + 1) * 24 * 3600);
        self.run(&call).await
    }
}
