//! Batches claims: claims of one room that arrive together are sent to Redis in one call.

use std::{sync::Arc, time::Duration};

use vestibule_domain::RoomId;
use vestibule_store::{
    Claim, ClaimReply, Store, StoreError,
    batch::{Batcher, KeyedBatcher, Limits},
};

use crate::{KeyError, Keystore};

/// The batcher of claims. Cloning is cheap.
#[derive(Debug, Clone)]
pub struct ClaimBatcher(Arc<KeyedBatcher<RoomId, Claim, ClaimReply>>);

/// Where claims go: to Redis at once, or by way of somebody who holds them while no seat is free.
pub trait Claims: Send + Sync {
    /// Sends one claim.
    ///
    /// # Errors
    /// [`StoreError::Overloaded`] when too many claims wait; otherwise see [`StoreError`].
    fn claim(
        &self,
        room: &RoomId,
        claim: Claim,
    ) -> impl Future<Output = Result<ClaimReply, StoreError>> + Send;
}

/// Few claims share a call: each looks at the door, and nobody else is answered while the script runs. A call of
/// one costs as much as ten more claims in it, so they are gathered for a time that nobody notices.
const LIMITS: Limits = Limits {
    batch: 24,
    queue: 16_384,
    gather: Duration::from_millis(3),
    only_while_awaited: false,
};

// === impl ClaimBatcher ===

impl ClaimBatcher {
    /// A batcher over `store`. New tokens are signed by the current key of `keys`.
    #[must_use]
    pub fn new(store: Store, keys: Keystore) -> Self {
        Self(Arc::new(KeyedBatcher::new(move |room: RoomId| {
            let (store, keys) = (store.clone(), keys.clone());
            Batcher::spawn(LIMITS, move |claims: Vec<Claim>| {
                let (store, keys) = (store.clone(), keys.clone());
                let room = room.clone();
                async move { send(&store, &keys, &room, claims).await }
            })
        })))
    }

    /// See [`KeyedBatcher::drop_idle`].
    pub fn drop_idle(&self) {
        self.0.drop_idle();
    }
}

impl Claims for ClaimBatcher {
    async fn claim(&self, room: &RoomId, claim: Claim) -> Result<ClaimReply, StoreError> {
        self.0.call(room, claim).await
    }
}

async fn send(
    store: &Store,
    keys: &Keystore,
    room: &RoomId,
    claims: Vec<Claim>,
) -> Result<Vec<ClaimReply>, StoreError> {
    let missing = |error: KeyError| StoreError::Unavailable(error.to_string().into());
    let key = keys.current().map_err(missing)?;
    let reply = store.claim(room, key.kid(), &claims).await?;
    let (now_ms, generation, free_at_ms) = (reply.now_ms, reply.generation, reply.free_at_ms);
    let one = |(outcome, beyond_seats)| ClaimReply {
        now_ms,
        generation,
        free_at_ms,
        outcome,
        beyond_seats,
    };
    Ok(reply.outcomes.into_iter().zip(reply.beyond_seats).map(one).collect())
}
