//! Check-ins, many at a time.

use vestibule_domain::{
    RoomId,
    presence::{Band, Spot},
};

use crate::{
    Store, StoreError,
    scripts::{
        self,
        order::check_in::{Arguments, Item, Reply},
    },
    store::Sealed,
};

/// The most check-ins of one call, so that no script takes long.
pub const MOST_CHECK_INS: usize = 500;

impl Store {
    /// Counts the visitors at these spots as there, each for its band. Returns Redis's time, ms; `None`
    /// if the room was reset since, and nothing was counted. They should be sorted, and at most
    /// [`MOST_CHECK_INS`].
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn check_in(
        &self,
        room: &RoomId,
        reset_epoch: u64,
        check_ins: impl IntoIterator<Item = (Spot, Band)>,
    ) -> Result<Option<u64>, StoreError> {
        let items = check_ins.into_iter().map(|(spot, band)| Item {
            pool: spot.pool().map(u64::from),
            band: band.index().into(),
            place: spot.place(),
        });
        let arguments = Arguments { reset_epoch };
        let reply: Sealed<Reply> =
            self.call_in_order(&scripts::CHECK_IN, room, &arguments, items).await?;
        let reply = reply.answer;
        Ok(reply.counted.then_some(reply.now_ms))
    }
}
