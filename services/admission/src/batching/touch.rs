//! Renews sessions; visitors inside whose requests come at the same moment share one call to Redis.

use vestibule_domain::RoomId;
use vestibule_issuance::{KeyError, Keystore};
use vestibule_store::{
    Feed, Store, StoreError, Touch, Touched,
    batch::{Batcher, KeyedBatcher, Limits},
};

/// Renews sessions.
#[derive(Debug)]
pub(crate) struct TouchBatcher(KeyedBatcher<RoomId, Touch, Touched>);

// === impl TouchBatcher ===

impl TouchBatcher {
    /// A batcher over `store`.
    #[must_use]
    pub(crate) fn new((store, feed, keys): (Store, Feed, Keystore), public_url: String) -> Self {
        Self(KeyedBatcher::new(move |room: RoomId| {
            let (store, feed, keys) = (store.clone(), feed.clone(), keys.clone());
            let public_url = public_url.clone();
            Batcher::spawn(Limits::default(), move |touches: Vec<Touch>| {
                let (store, feed, keys) = (store.clone(), feed.clone(), keys.clone());
                let (room, public_url) = (room.clone(), public_url.clone());
                async move {
                    let missing =
                        |error: KeyError| StoreError::Unavailable(error.to_string().into());
                    let key = keys.current().map_err(missing)?;
                    let known = feed.room(room.as_str()).ok_or(StoreError::RoomMissing)?;
                    let issuer = known.snapshot().settings.issuer.clone().unwrap_or(public_url);
                    let touched = store.touch(&room, key.kid(), &issuer, &touches).await;
                    if matches!(touched, Err(StoreError::Unavailable(_))) {
                        known.note_unanswered();
                    }
                    touched
                }
            })
        }))
    }

    /// Renews the session of one visitor.
    ///
    /// # Errors
    /// [`StoreError::Overloaded`] when too many wait; otherwise see [`StoreError`].
    pub(crate) async fn touch(&self, room: &RoomId, touch: Touch) -> Result<Touched, StoreError> {
        self.0.call(room, touch).await
    }

    /// See [`KeyedBatcher::drop_idle`].
    pub(crate) fn drop_idle(&self) {
        self.0.drop_idle();
    }
}
