//! Claim windows: how long those who were served may still claim, and keeping that open for whoever comes while no seat
//! is free. A ticket can be sent as often as its holder likes: whoever asks more often than anything changes is answered
//! from memory, and of a room one batch at a time goes to Redis.
//!
//! Bounded: of more positions than are kept, those that ask least are forgotten, and Redis is asked again.

use std::sync::Arc;

use futures_util::future::try_join_all;
use quick_cache::sync::Cache;
use rustc_hash::FxHashMap;
use tokio::time::{Duration, Instant};
use vestibule_domain::{Place, RoomId};
use vestibule_store::{
    PositionExpiry, Store, StoreError,
    batch::{Batcher, KeyedBatcher, Limits, TOGETHER},
};

/// So many positions are kept, about 150 bytes each.
const KEPT: usize = 16_384;
/// For how long an answer is good.
const FRESH: Duration = Duration::from_secs(1);
/// A window is kept open once within this time: it is due about every fifteen seconds.
const KEPT_OPEN: Duration = Duration::from_secs(7);
/// Whoever is not served yet may be at any moment, so that is not kept: those who ask it at once are gathered.
const LIMITS: Limits = Limits {
    batch: TOGETHER,
    queue: 16_384,
    gather: Duration::from_millis(20),
    only_while_awaited: false,
};

/// Whoever was served.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Served {
    /// Its room,
    pub(crate) room: RoomId,
    /// and the reset epoch of its place.
    pub(crate) reset_epoch: u64,
    /// Its place,
    pub(crate) place: Place,
    /// and where that stands.
    pub(crate) position: u64,
}

/// Asks how long windows last, and keeps them open.
#[derive(Debug)]
pub(crate) struct ClaimWindows {
    store: Store,
    batchers: KeyedBatcher<RoomId, Served, PositionExpiry>,
    answers: Arc<Answers>,
    kept_open: Cache<Served, Instant>,
}

/// What Redis said a moment ago, and when.
#[derive(Debug)]
struct Answers(Cache<Served, (Instant, PositionExpiry)>);

// === impl ClaimWindows ===

impl ClaimWindows {
    /// Those that `store` keeps.
    pub(crate) fn new(store: Store) -> Self {
        let answers = Arc::new(Answers(Cache::new(KEPT)));
        let (asked, told) = (store.clone(), Arc::clone(&answers));
        let batchers = KeyedBatcher::new(move |_room| {
            let (store, answers) = (asked.clone(), Arc::clone(&told));
            Batcher::spawn(LIMITS, move |all: Vec<Served>| {
                let (store, answers) = (store.clone(), Arc::clone(&answers));
                async move { answers.ask_all(&store, all).await }
            })
        });
        Self { store, batchers, answers, kept_open: Cache::new(KEPT) }
    }

    /// How long `served` may still claim.
    ///
    /// # Errors
    /// [`StoreError::Overloaded`] when too many wait; otherwise see [`StoreError`].
    pub(crate) async fn expiry(&self, served: Served) -> Result<PositionExpiry, StoreError> {
        if let Some(answer) = self.answers.of(&served) {
            return Ok(answer);
        }
        let room = served.room.clone();
        self.batchers.call(&room, served).await
    }

    /// Lets the window of `served` begin anew, unless that was done a moment ago. If it is lost, the next time is early
    /// enough.
    pub(crate) async fn keep_open(&self, served: Served) {
        let now = Instant::now();
        if self.kept_open.get(&served).is_some_and(|last| now < last + KEPT_OPEN) {
            return;
        }
        let Served { room, reset_epoch, position, .. } = &served;
        let (room, reset_epoch, position) = (room.clone(), *reset_epoch, *position);
        self.kept_open.insert(served, now);
        let _ = self.store.extend_claim_window(&room, reset_epoch, position).await;
    }

    /// See [`KeyedBatcher::drop_idle`].
    pub(crate) fn drop_idle(&self) {
        self.batchers.drop_idle();
    }
}

// === impl Answers ===

impl Answers {
    fn of(&self, served: &Served) -> Option<PositionExpiry> {
        let (at, answer) = self.0.get(served)?;
        (at.elapsed() < FRESH).then_some(answer)
    }

    /// Each is asked about once, however often it comes.
    async fn ask_all(
        &self,
        store: &Store,
        all: Vec<Served>,
    ) -> Result<Vec<PositionExpiry>, StoreError> {
        let mut answers: FxHashMap<&Served, Option<PositionExpiry>> =
            all.iter().map(|served| (served, self.of(served))).collect();
        let asked = answers.iter_mut().filter(|(_, answer)| answer.is_none());
        let asked = asked.map(async |(served, answer)| {
            let Served { room, reset_epoch, place, position } = served;
            let at = Instant::now();
            let told = store.position_expiry(room, *reset_epoch, place, *position).await?;
            if told != PositionExpiry::NotServed {
                self.0.insert((*served).clone(), (at, told));
            }
            *answer = Some(told);
            Ok::<_, StoreError>(())
        });
        try_join_all(asked).await?;
        Ok(all.iter().filter_map(|served| answers[served]).collect())
    }
}
