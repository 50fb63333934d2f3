//! Ends sessions; visitors who leave at the same moment share one call to Redis.

use vestibule_domain::RoomId;
use vestibule_store::{
    Departure, Store, StoreError,
    batch::{Batcher, KeyedBatcher, Limits},
};

/// Ends sessions.
#[derive(Debug)]
pub(crate) struct LeaveBatcher(KeyedBatcher<(RoomId, u64), Departure, bool>);

// === impl LeaveBatcher ===

impl LeaveBatcher {
    /// A batcher over `store`.
    #[must_use]
    pub(crate) fn new(store: Store) -> Self {
        Self(KeyedBatcher::new(move |(room, reset_epoch): (RoomId, u64)| {
            let store = store.clone();
            Batcher::spawn(Limits::default(), move |departures: Vec<Departure>| {
                let (store, room) = (store.clone(), room.clone());
                async move { store.leave(&room, reset_epoch, &departures).await }
            })
        }))
    }

    /// Ends one session; returns whether there was one.
    ///
    /// # Errors
    /// [`StoreError::Overloaded`] when too many wait; otherwise see [`StoreError`].
    pub(crate) async fn leave(
        &self,
        room: &RoomId,
        reset_epoch: u64,
        departure: Departure,
    ) -> Result<bool, StoreError> {
        self.0.call(&(room.clone(), reset_epoch), departure).await
    }

    /// See [`KeyedBatcher::drop_idle`].
    pub(crate) fn drop_idle(&self) {
        self.0.drop_idle();
    }
}
