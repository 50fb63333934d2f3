//! Checking in: presence counts, many at a time.

use vestibule_domain::{Lease, RoomId};

use super::keys;
use crate::{Store, StoreError, keys::Part, scripts};

impl Store {
    /// Adds differences to the counts of leases. Nothing is counted when the room has another
    /// reset epoch by now.
    ///
    /// # Errors
    /// As for every call to Redis.
    pub async fn check_in(
        &self,
        room: &RoomId,
        reset_epoch: u64,
        differences: impl IntoIterator<Item = (Lease, i64)>,
    ) -> Result<(), StoreError> {
        let mut call = Self::untimed(&scripts::CHECK_IN, &keys(room, [Part::Line, Part::Presence]));
        call.arg(reset_epoch);
        for (lease, difference) in differences {
            call.arg(lease.to_string()).arg(difference);
        }
        self.run(&call).await
    }
}
