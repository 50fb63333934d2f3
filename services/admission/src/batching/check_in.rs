//! Counts waiting visitors as present. Counts gather for a moment and travel as sums, so a poll
//! costs Redis nothing.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use rustc_hash::FxHashMap;
use tokio::time::sleep;
use vestibule_domain::{Lease, RoomId};
use vestibule_store::{Store, StoreError};

/// How long counts gather. Must be well below `PROMISE_SETTLES_MS` of the domain crate, for which
/// the leader goes by what the join script says of whom it let through.
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

    /// Sends what has gathered, again and again, until it is dropped.
    pub(crate) async fn run(&self) {
        loop {
            sleep(GATHER).await;
            self.send().await;
        }
    }

    /// Sends what has gathered.
    pub(crate) async fn send(&self) {
        let gathered =
            std::mem::take(&mut *self.gathered.lock().unwrap_or_else(PoisonError::into_inner));
        for ((room, reset_epoch), counts) in gathered {
            let changed = counts.into_iter().filter(|(_, difference)| *difference != 0);
            match self.store.check_in(&room, reset_epoch, changed).await {
                // What is lost lapses by itself, and its holders check in again.
                Ok(_) | Err(StoreError::RoomMissing) => {}
                Err(error) => tracing::debug!(%error, %room, "presence was not counted"),
            }
        }
    }
}
