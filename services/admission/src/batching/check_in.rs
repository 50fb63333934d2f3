//! Counts waiting visitors as there. Check-ins are gathered in memory and sent ten times a second, each
//! once: who asks a thousand times within a generation costs Redis one bit, and one more a second for all. Of a Cluster
//! each shard is sent its own, and none waits for another.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures_util::{StreamExt, future::join_all, stream::FuturesUnordered};
use rustc_hash::FxHashMap;
use tokio::time::{MissedTickBehavior, interval};
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
    /// Shards that did not answer the last time.
    away: Mutex<BTreeSet<String>>,
    sent: Mutex<FxHashMap<RoomId, SentCheckIns>>,
}

/// As they come; each is sent once.
type Gathered = BTreeMap<RoomState, Vec<(Band, Spot)>>;

// === impl CheckInBatcher ===

impl CheckInBatcher {
    /// Nobody yet; [`Self::run`] sends them.
    #[must_use]
    pub(crate) fn new(store: Store) -> Self {
        Self { store, gathered: Mutex::default(), away: Mutex::default(), sent: Mutex::default() }
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

    /// Forgets rooms that are not there.
    pub(crate) fn retain_rooms(&self, is_there: impl Fn(&RoomId) -> bool) {
        lock(&self.sent).retain(|room, _| is_there(room));
    }

    /// Sends the check-ins ten times a second until it is dropped.
    pub(crate) async fn run(&self) {
        let (mut sending, mut busy) = (FuturesUnordered::new(), BTreeSet::new());
        let mut ticks = interval(GATHER);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                _ = ticks.tick() => for (shard, gathered) in self.take_all_but(&busy) {
                    busy.insert(shard.clone());
                    sending.push(async {
                        self.send_to_shard(&shard, gathered).await;
                        shard
                    });
                },
                Some(shard) = sending.next() => drop(busy.remove(&shard)),
            }
        }
    }

    /// Sends the check-ins since the last time.
    pub(crate) async fn send(&self) {
        let all = self.take_all_but(&BTreeSet::new());
        let sending = all
            .into_iter()
            .map(async |(shard, gathered)| self.send_to_shard(&shard, gathered).await);
        join_all(sending).await;
    }

    /// What was gathered, by shard; that of shards that are `busy` stays.
    fn take_all_but(&self, busy: &BTreeSet<String>) -> BTreeMap<String, Gathered> {
        let mut shards = BTreeMap::<_, Gathered>::new();
        let mut gathered = lock(&self.gathered);
        for (state, check_ins) in std::mem::take(&mut *gathered) {
            let shard = self.store.shard_of(&state.room);
            let of_shard = if busy.contains(&shard) {
                &mut *gathered
            } else {
                shards.entry(shard).or_default()
            };
            of_shard.insert(state, check_ins);
        }
        shards
    }

    /// Sends these, which are of one shard, until it does not answer.
    async fn send_to_shard(&self, shard: &str, mut gathered: Gathered) {
        while let Some((state, mut check_ins)) = gathered.pop_first() {
            check_ins.sort_unstable();
            check_ins.dedup();
            for some in check_ins.chunks(MOST_CHECK_INS) {
                if let Err(StoreError::Unavailable(_)) = self.send_some(&state, some).await {
                    gathered.insert(state, check_ins);
                    return self.keep_once(shard, gathered);
                }
            }
        }
        lock(&self.away).remove(shard);
    }

    /// These were not sent, since the shard did not answer. One answer may be lost: so they are sent once more. After that
    /// the shard is away, and whoever is there checks in again.
    fn keep_once(&self, shard: &str, unsent: Gathered) {
        if !lock(&self.away).insert(shard.to_owned()) {
            return;
        }
        let mut gathered = lock(&self.gathered);
        for (state, check_ins) in unsent {
            gathered.entry(state).or_default().extend(check_ins);
        }
    }

    async fn send_some(
        &self,
        state: &RoomState,
        check_ins: &[(Band, Spot)],
    ) -> Result<(), StoreError> {
        let check_ins: Vec<_> = check_ins.iter().map(|&(band, spot)| (spot, band)).collect();
        let RoomState { room, reset_epoch, .. } = state;
        match self.store.check_in(room, *reset_epoch, check_ins.iter().copied()).await {
            Ok(Some(now_ms)) => {
                let mut sent = lock(&self.sent);
                sent.entry(room.clone()).or_default().note(state, &check_ins, now_ms);
            }
            // Its visitors hear of the reset with their next call.
            Ok(None) | Err(StoreError::RoomMissing | StoreError::Rewound) => {}
            Err(error) => {
                tracing::debug!(%error, %room, "presence was not counted");
                return Err(error);
            }
        }
        Ok(())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
