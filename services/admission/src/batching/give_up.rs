//! Gives places in line back; visitors who leave at the same moment share one call to Redis.

use vestibule_domain::RoomId;
use vestibule_store::{
    GivenUp, Store, StoreError,
    batch::{Batcher, KeyedBatcher, Limits},
};

/// What positions are of: a reset epoch, and so many draws.
type Seen = (u64, usize);

/// Gives places back.
#[derive(Debug)]
pub(crate) struct GiveUpBatcher(KeyedBatcher<(RoomId, Seen), GivenUp, bool>);

// === impl GiveUpBatcher ===

impl GiveUpBatcher {
    /// A batcher over `store`.
    #[must_use]
    pub(crate) fn new(store: Store) -> Self {
        Self(KeyedBatcher::new(move |(room, seen): (RoomId, Seen)| {
            let store = store.clone();
            Batcher::spawn(Limits::default(), move |places: Vec<GivenUp>| {
                let (store, room) = (store.clone(), room.clone());
                async move { store.give_up(&room, seen, &places).await }
            })
        }))
    }

    /// Gives one place back; returns whether it was one.
    ///
    /// # Errors
    /// [`StoreError::Overloaded`] when too many wait; otherwise see [`StoreError`].
    pub(crate) async fn give_up(
        &self,
        room: &RoomId,
        seen: Seen,
        place: GivenUp,
    ) -> Result<bool, StoreError> {
        self.0.call(&(room.clone(), seen), place).await
    }

    /// See [`KeyedBatcher::drop_idle`].
    pub(crate) fn drop_idle(&self) {
        self.0.drop_idle();
    }
}
