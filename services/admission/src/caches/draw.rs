//! The published records of draws. Anyone may ask for them, so each room's are read once a second at
//! most.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::time::Instant;
use vestibule_domain::{
    RoomId,
    draw::{DrawRecord, published},
};
use vestibule_store::{Store, StoreError};

/// How long records are used before they are read again.
const FRESH: Duration = Duration::from_secs(1);

type Records = Arc<Vec<DrawRecord>>;

/// The published records of draws, by room.
#[derive(Debug)]
pub(crate) struct DrawCache {
    store: Store,
    rooms: Mutex<BTreeMap<RoomId, (Instant, Records)>>,
}

// === impl DrawCache ===

impl DrawCache {
    /// An empty cache of what `store` holds.
    #[must_use]
    pub(crate) fn new(store: Store) -> Self {
        Self { store, rooms: Mutex::default() }
    }

    /// The draws of `room`, by their start.
    ///
    /// # Errors
    /// [`StoreError::RoomMissing`]; otherwise see [`StoreError`].
    pub(crate) async fn get(&self, room: &RoomId) -> Result<Records, StoreError> {
        if let Some(records) = self.fresh(room) {
            return Ok(records);
        }
        let config = self.store.read_config(room).await?.ok_or(StoreError::RoomMissing)?;
        let drawn = self.store.read_draws(room).await?;
        let reset_epoch = self.store.reset_epoch(room).await?.unwrap_or(0);
        let now_ms = self.store.now_ms_in(room).await?;
        let records = Arc::new(published(room, &config, &drawn, (reset_epoch, now_ms)));
        let mut rooms = self.rooms.lock().unwrap_or_else(PoisonError::into_inner);
        rooms.insert(room.clone(), (Instant::now(), Arc::clone(&records)));
        Ok(records)
    }

    fn fresh(&self, room: &RoomId) -> Option<Records> {
        let rooms = self.rooms.lock().unwrap_or_else(PoisonError::into_inner);
        let (read_at, records) = rooms.get(room)?;
        (read_at.elapsed() < FRESH).then(|| Arc::clone(records))
    }
}
