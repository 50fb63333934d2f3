//! Counts waiting visitors as present. Counts are added up in memory and sent as sums ten times a
//! second, so a poll makes no call to Redis.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use rustc_hash::FxHashMap;
use tokio::time::sleep;
use vestibule_domain::{Lease, RoomId};
use vestibule_store::{Store, StoreError};

/// How often the sums are sent. Must be well below `PROMISE_SETTLES_MS` of the domain crate: for that
/// long the leader trusts the join script's own count of those it let through.
const GATHER: Duration = Duration::from_millis(100);

/// Counts who is present.
#[derive(Debug)]
pub(crate) struct CheckInBatcher {
    store: Store,
    gathered: Mutex<Gathered>,
}

type Gathered = FxHashMap<(RoomId, u64), FxHashMap<Lease, i64>>;

// === impl CheckInBatcher ===

impl CheckInBatcher {
    /// No counts yet; [`Self::run`] sends them.
    #[must_use]
    pub(crate) fn new(store: Store) -> Self {
        Self { store, gathered: Mutex::default() }
    }

    /// A visitor of `room`, in `reset_epoch`, gives `old` back and takes `new`.
    pub(crate) fn exchange(
        &self,
        room: &RoomId,
        reset_epoch: u64,
        old: Option<Lease>,
        new: Option<Lease>,
    ) {
        if old == new {
            return;
        }
        let mut gathered = self.gathered.lock().unwrap_or_else(PoisonError::into_inner);
        let counts = gathered.entry((room.clone(), reset_epoch)).or_default();
        if let Some(old) = old {
            *counts.entry(old).or_default() -= 1;
        }
        if let Some(new) = new {
            *counts.entry(new).or_default() += 1;
        }
    }

    /// Sends the sums ten times a second until it is dropped.
    pub(crate) async fn run(&self) {
        loop {
            sleep(GATHER).await;
            self.send().await;
        }
    }

    /// Sends the sums since the last time.
    pub(crate) async fn send(&self) {
        let gathered =
            std::mem::take(&mut *self.gathered.lock().unwrap_or_else(PoisonError::into_inner));
        for ((room, reset_epoch), counts) in gathered {
            let changed = counts.into_iter().filter(|(_, difference)| *difference != 0);
            match self.store.check_in(&room, reset_epoch, changed).await {
                // Lost counts expire by themselves, and their visitors check in again.
                Ok(_) | Err(StoreError::RoomMissing) => {}
                Err(error) => tracing::debug!(%error, %room, "presence was not counted"),
            }
        }
    }
}
