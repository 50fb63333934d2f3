//! The published records of draws. Anyone may ask for them, so each room's are read once a second at
//! most, by one for all who ask meanwhile.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;
use vestibule_domain::{
    RoomId,
    draw::{DrawRecord, published},
};
use vestibule_store::{SharedReading, Store, StoreError};

/// How long records are used before they are read again.
const FRESH: Duration = Duration::from_secs(1);

type Records = Arc<Vec<DrawRecord>>;

/// The published records of draws, by room.
#[derive(Debug)]
pub(crate) struct DrawCache {
    store: Store,
    rooms: Mutex<BTreeMap<RoomId, Arc<RoomDraws>>>,
}

/// Those of one room.
#[derive(Debug, Default)]
struct RoomDraws {
    reading: SharedReading<StoreError>,
    /// What was read last, and when.
    last: Mutex<Option<(Instant, Records)>>,
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
        self.of_room(room).get(async || self.read(room).await).await
    }

    async fn read(&self, room: &RoomId) -> Result<Records, StoreError> {
        let config = self.store.read_config(room).await?.ok_or(StoreError::RoomMissing)?;
        let drawn = self.store.read_draws(room).await?;
        let reset_epoch = self.store.reset_epoch(room).await?.unwrap_or(0);
        let now_ms = self.store.now_ms_in(room).await?;
        Ok(Arc::new(published(room, &config, &drawn, (reset_epoch, now_ms))))
    }

    /// Forgets rooms that are not there.
    pub(crate) fn retain_rooms(&self, is_there: impl Fn(&RoomId) -> bool) {
        self.lock().retain(|room, _| is_there(room));
    }

    fn of_room(&self, room: &RoomId) -> Arc<RoomDraws> {
        Arc::clone(self.lock().entry(room.clone()).or_default())
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<RoomId, Arc<RoomDraws>>> {
        self.rooms.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// === impl RoomDraws ===

impl RoomDraws {
    async fn get(
        &self,
        read: impl AsyncFnOnce() -> Result<Records, StoreError>,
    ) -> Result<Records, StoreError> {
        if let Some(records) = self.fresh() {
            return Ok(records);
        }
        let read = async || {
            // Another one may have read meanwhile.
            if self.fresh().is_none() {
                let records = read().await?;
                *self.last() = Some((Instant::now(), records));
            }
            Ok(())
        };
        self.reading.share(read).await?;
        let last = self.last().clone();
        last.map(|(_, records)| records).ok_or(StoreError::RoomMissing)
    }

    fn fresh(&self) -> Option<Records> {
        let last = self.last();
        let (read_at, records) = last.as_ref()?;
        (read_at.elapsed() < FRESH).then(|| Arc::clone(records))
    }

    fn last(&self) -> MutexGuard<'_, Option<(Instant, Records)>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use futures_util::future::join_all;
    use tokio::time::sleep;

    use super::*;

    /// How often is read when forty ask at once, twice within a second and once after it.
    async fn readings(outcome: Result<Records, StoreError>) -> [usize; 3] {
        let (draws, reads) = (RoomDraws::default(), AtomicUsize::new(0));
        let read = async || {
            reads.fetch_add(1, Relaxed);
            sleep(Duration::from_millis(50)).await;
            outcome.clone()
        };
        let burst = async |pause: Duration| {
            sleep(pause).await;
            let told = join_all((0..40).map(|_| draws.get(read))).await;
            assert!(told.iter().all(|told| told.is_ok() == outcome.is_ok()), "{told:?}");
            reads.load(Relaxed)
        };
        [burst(Duration::ZERO).await, burst(FRESH / 2).await, burst(FRESH).await]
    }

    #[tokio::test(start_paused = true)]
    async fn records_are_read_once_a_second_for_all() {
        assert_eq!(readings(Ok(Records::default())).await, [1, 1, 2]);
    }

    #[tokio::test(start_paused = true)]
    async fn all_who_wait_for_a_reading_that_fails_have_failed_with_it() {
        assert_eq!(readings(Err(StoreError::RoomMissing)).await, [1, 2, 3]);
    }
}
