//! Counts waiting visitors as there. Check-ins are gathered in memory and sent ten times a second, each
//! once: who asks a thousand times within a generation costs Redis one bit, and one more a second for all.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use rustc_hash::FxHashMap;
use tokio::time::sleep;
use vestibule_domain::{
    RoomId,
    presence::{Band, Spot},
};
use vestibule_store::{MOST_CHECK_INS, Store, StoreError};

use super::{room_state::RoomState, sent_check_ins::SentCheckIns};

/// How often check-ins are sent.
const GATHER: Duration = Duration::from_millis(100);

/// Counts who is there.
#[derive(Debug)]
pub(crate) struct CheckInBatcher {
    store: Store,
    gathered: Mutex<Gathered>,
    sent: Mutex<FxHashMap<RoomId, SentCheckIns>>,
}

/// As they come; each is sent once.
type Gathered = BTreeMap<RoomState, Vec<(Band, Spot)>>;

// === impl CheckInBatcher ===

impl CheckInBatcher {
    /// Nobody yet; [`Self::run`] sends them.
    #[must_use]
    pub(crate) fn new(store: Store) -> Self {
        Self { store, gathered: Mutex::default(), sent: Mutex::default() }
    }

    /// The visitor at `spot` is there at `now_ms`, and is told to come back within a time that `band`
    /// holds.
    pub(crate) fn check_in(&self, state: RoomState, (spot, band): (Spot, Band), now_ms: u64) {
        let is_known = lock(&self.sent)
            .get(&state.room)
            .is_some_and(|sent| sent.holds(&state, (spot, band), now_ms));
        if !is_known {
            lock(&self.gathered).entry(state).or_default().push((band, spot));
        }
    }

    /// Sends the check-ins ten times a second until it is dropped.
    pub(crate) async fn run(&self) {
        loop {
            sleep(GATHER).await;
            self.send().await;
        }
    }

    /// Sends the check-ins since the last time.
    pub(crate) async fn send(&self) {
        let gathered = std::mem::take(&mut *lock(&self.gathered));
        for (state, mut check_ins) in gathered {
            check_ins.sort_unstable();
            check_ins.dedup();
            let check_ins: Vec<_> =
                check_ins.into_iter().map(|(band, spot)| (spot, band)).collect();
            for some in check_ins.chunks(MOST_CHECK_INS) {
                self.send_some(&state, some).await;
            }
        }
    }

    async fn send_some(&self, state: &RoomState, check_ins: &[(Spot, Band)]) {
        let RoomState { room, reset_epoch, .. } = state;
        match self.store.check_in(room, *reset_epoch, check_ins.iter().copied()).await {
            Ok(Some(now_ms)) => {
                let mut sent = lock(&self.sent);
                sent.entry(room.clone()).or_default().note(state, check_ins, now_ms);
            }
            // Its visitors hear of the reset with their next call.
            Ok(None) | Err(StoreError::RoomMissing | StoreError::Rewound) => {}
            // Whoever is there checks in again.
            Err(error) => tracing::debug!(%error, %room, "presence was not counted"),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
