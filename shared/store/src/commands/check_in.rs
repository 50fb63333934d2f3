//! Presence counts, many at a time.

use vestibule_domain::{Lease, RoomId};

use crate::{
    Store, StoreError,
    scripts::{
        self,
        order::check_in::{Arguments, Item, Reply},
    },
};

impl Store {
    /// Adds differences to the counts of leases. Returns `false` and counts nothing if the room was
    /// reset since.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn check_in(
        &self,
        room: &RoomId,
        reset_epoch: u64,
        differences: impl IntoIterator<Item = (Lease, i64)>,
    ) -> Result<bool, StoreError> {
        let items = differences
            .into_iter()
            .map(|(lease, difference)| Item { lease: lease.to_string(), difference });
        let arguments = Arguments { reset_epoch };
        let reply: Reply = self.call_in_order(&scripts::CHECK_IN, room, &arguments, items).await?;
        Ok(reply.counted)
    }
}
