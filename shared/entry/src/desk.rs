//! The desk: where claims are handed in. Claims of one room that come together travel together.

use std::sync::Arc;

use vestibule_domain::RoomId;
use vestibule_store::{
    Claim, Claimed, Claims, Feed, Seen, Store, StoreError,
    batch::{Batcher, Batchers, Limits},
};

use crate::{KeyError, KeyKeeper};

/// Takes claims. Cloning is cheap.
#[derive(Debug, Clone)]
pub struct Desk(Arc<Batchers<RoomId, Claim, Claimed>>);

// === impl Desk ===

impl Desk {
    /// A desk over `store`, whose tokens are signed by the current key of `keys`.
    #[must_use]
    pub fn new(store: Store, feed: Feed, keys: KeyKeeper) -> Self {
        Self(Arc::new(Batchers::new(move |room: RoomId| {
            let (store, feed, keys) = (store.clone(), feed.clone(), keys.clone());
            Batcher::spawn(Limits::default(), move |claims: Vec<Claim>| {
                let (store, feed, keys) = (store.clone(), feed.clone(), keys.clone());
                let room = room.clone();
                async move { send(&store, &feed, &keys, &room, claims).await }
            })
        })))
    }

    /// Hands in one claim.
    ///
    /// # Errors
    /// [`StoreError::Overloaded`] when too many wait; else as for every call to Redis.
    pub async fn claim(&self, room: &RoomId, claim: Claim) -> Result<Claimed, StoreError> {
        self.0.call(room, claim).await
    }
}

async fn send(
    store: &Store,
    feed: &Feed,
    keys: &KeyKeeper,
    room: &RoomId,
    claims: Vec<Claim>,
) -> Result<Vec<Claimed>, StoreError> {
    let missing = |error: KeyError| StoreError::Unavailable(error.to_string().into());
    let key = keys.current().map_err(missing)?;
    let answer = store.claim(room, key.kid(), &claims).await?;
    if let Some(known) = feed.room(room.as_str()) {
        let Claims { reset_epoch, admitted, .. } = answer;
        known.saw(Seen { reset_epoch, queue_counter: 0, serving_counter: i64::MIN, admitted });
    }
    let (now_ms, generation) = (answer.now_ms, answer.generation);
    let one = |outcome| Claimed { now_ms, generation, outcome };
    Ok(answer.outcomes.into_iter().map(one).collect())
}
