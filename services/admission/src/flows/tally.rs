//! What only this instance knows of a room's minutes, for its history: who was turned away, and what newcomers were told
//! to wait. What scripts decide they count themselves. Sent every few seconds; an instance that dies takes what it has
//! not sent along.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::time::sleep;
use vestibule_domain::{
    RoomId,
    ledger::{Figure, RefusedFor, bucket_of},
    network_limits::NetworkLimit,
};
use vestibule_store::{Store, StoreError};

use super::{FlowError, RoomContext, Status, VisitorStatus};

/// How often counts are sent, if there are any: one call for each room and minute.
const SEND_EVERY: Duration = Duration::from_secs(5);

/// Counts by room and minute since 1970.
type Counts = BTreeMap<(RoomId, u64), BTreeMap<Figure, u64>>;

/// Counts what is not sent yet.
#[derive(Debug)]
pub(crate) struct Tally {
    store: Store,
    counts: Mutex<Counts>,
}

// === impl Tally ===

impl Tally {
    /// Counts go to `store`.
    pub(crate) fn new(store: Store) -> Self {
        Self { store, counts: Mutex::default() }
    }

    /// A newcomer was turned away.
    pub(crate) fn refused(&self, room: &RoomContext, reason: RefusedFor) {
        self.count(room, Figure::Refused(reason));
    }

    /// A call of a newcomer failed: counts it, if the newcomer was turned away by it.
    pub(crate) fn failed(&self, room: &RoomContext, error: &FlowError) {
        if let Some(reason) = reason_of(error) {
            self.refused(room, reason);
        }
    }

    /// A newcomer has got a place, and was told this.
    pub(crate) fn told(&self, room: &RoomContext, told: &VisitorStatus) {
        let wait = match told.status {
            Status::Waiting => told.wait_seconds,
            Status::YourTurn | Status::Admitted => Some(0),
            Status::Expired | Status::Closed => return,
        };
        self.count(room, Figure::Told(bucket_of(wait)));
    }

    /// Sends counts for as long as the service runs.
    pub(crate) async fn run(&self) {
        loop {
            sleep(SEND_EVERY).await;
            self.send().await;
        }
    }

    /// Sends what was counted. What was not taken is sent the next time; what may have been is not.
    pub(crate) async fn send(&self) {
        let taken = std::mem::take(&mut *self.lock());
        for ((room, minute), counts) in taken {
            let sent = self.store.note_counts(&room, minute, counts.clone()).await;
            if let Err(StoreError::Rewound | StoreError::Overloaded) = sent {
                self.put_back((room, minute), counts);
            }
        }
    }

    fn put_back(&self, at: (RoomId, u64), counts: BTreeMap<Figure, u64>) {
        let mut all = self.lock();
        let known = all.entry(at).or_default();
        for (figure, count) in counts {
            *known.entry(figure).or_default() += count;
        }
    }

    fn count(&self, room: &RoomContext, figure: Figure) {
        let at = (room.snapshot.room.clone(), room.known.now_ms() / 60_000);
        *self.lock().entry(at).or_default().entry(figure).or_default() += 1;
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why somebody was turned away whose call failed so; `None`: it was not turned away, or the fault is ours.
fn reason_of(error: &FlowError) -> Option<RefusedFor> {
    Some(match error {
        FlowError::OverLimit { limit, .. } => of_limit(*limit),
        FlowError::ChallengeRequired(_) => RefusedFor::Challenge,
        FlowError::ProviderAway => RefusedFor::ChallengeUnavailable,
        FlowError::Store(StoreError::Overloaded) | FlowError::Signer(_) => RefusedFor::Overloaded,
        FlowError::Store(_) | FlowError::NoSigningKey => RefusedFor::Unavailable,
        FlowError::ForeignTicket
        | FlowError::Stranger
        | FlowError::RequestId(_)
        | FlowError::WithoutCookie => return None,
    })
}

/// Why somebody is turned away who is beyond this limit.
pub(super) fn of_limit(limit: NetworkLimit) -> RefusedFor {
    match limit {
        NetworkLimit::Joins => RefusedFor::NetworkJoins,
        NetworkLimit::Places => RefusedFor::NetworkPlaces,
        NetworkLimit::Seats => RefusedFor::NetworkSeats,
    }
}
