//! Uses what newcomers have shown, once; those who come at the same moment share one call to Redis.

use vestibule_domain::RoomId;
use vestibule_store::{
    Spending, Store, StoreError,
    batch::{Batcher, KeyedBatcher, Limits},
};
use vestibule_token::Mark;

/// Uses solutions and passes.
#[derive(Debug)]
pub(crate) struct SpendBatcher(KeyedBatcher<RoomId, Spending, bool>);

// === impl SpendBatcher ===

impl SpendBatcher {
    /// A batcher over `store`.
    #[must_use]
    pub(crate) fn new(store: Store) -> Self {
        Self(KeyedBatcher::new(move |room: RoomId| {
            let store = store.clone();
            Batcher::spawn(Limits::default(), move |marks: Vec<Spending>| {
                let (store, room) = (store.clone(), room.clone());
                async move { store.spend(&room, &marks).await }
            })
        }))
    }

    /// Uses one; returns whether it was not used before.
    ///
    /// # Errors
    /// [`StoreError::Overloaded`] when too many wait; otherwise see [`StoreError`].
    pub(crate) async fn spend(&self, room: &RoomId, mark: Mark) -> Result<bool, StoreError> {
        let Mark { name, expires_at } = mark;
        self.0.call(room, Spending { name, expires_at, is_taken_back: false }).await
    }

    /// Takes back that one was used.
    ///
    /// # Errors
    /// As [`Self::spend`].
    pub(crate) async fn take_back(&self, room: &RoomId, mark: Mark) -> Result<(), StoreError> {
        let Mark { name, expires_at } = mark;
        self.0.call(room, Spending { name, expires_at, is_taken_back: true }).await.map(drop)
    }

    /// See [`KeyedBatcher::drop_idle`].
    pub(crate) fn drop_idle(&self) {
        self.0.drop_idle();
    }
}
