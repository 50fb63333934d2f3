//! Telling the leader what this service has seen of a room, when Redis may have gone back.
//!
//! Whoever has told it relies on no answer that was under way meanwhile: see `RoomMemory::testify`. So the leader knows
//! all that this service will ever know of the state before.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures_util::{
    StreamExt,
    future::join_all,
    stream::{self, FuturesUnordered},
};
use tokio::time::{sleep, timeout};
use vestibule_domain::{RoomId, RoomSnapshot, reconciliation::Testimony};

use super::{Feed, KnownRoom};
use crate::{
    Account, PlacesPage, StoreError,
    memory::{Recollection, RoomMemory},
};

/// The round in which a service tells what it has seen, when it stops.
const LAST_WORDS: &str = "last words";
/// How long a stop may take longer because of them.
const PATIENCE: Duration = Duration::from_secs(2);
/// How soon it is tried again while Redis does not answer, or not as it should.
const AGAIN_AFTER: Duration = Duration::from_millis(100);
/// Of so many rooms it is told at once.
const AT_ONCE: usize = 32;

/// What a service has seen that was silent when it was asked, and the name under which it tells it.
#[derive(Debug)]
pub(super) struct Late {
    round: String,
    seen: Recollection,
}

/// Dropped before it is done, it was not told: whoever asked may have gone away, and nobody else would ever tell it.
struct Telling(Option<Arc<RoomMemory>>);

// === impl Telling ===

impl Telling {
    fn end(mut self) {
        self.0 = None;
    }
}

impl Drop for Telling {
    fn drop(&mut self) {
        if let Some(memory) = &self.0 {
            memory.has_not_testified();
        }
    }
}

// === impl Feed ===

impl Feed {
    /// Tells whenever it is asked, until it is dropped. Rooms of a shard that is away keep nobody waiting who asks about
    /// others, nor does what is being told.
    pub(super) async fn testify_when_asked(&self) {
        let mut telling = FuturesUnordered::new();
        loop {
            let rooms = std::mem::take(&mut *self.alarmed());
            telling.extend(self.by_shard(rooms).into_values().map(|rooms| self.testify_of(rooms)));
            loop {
                tokio::select! {
                    biased;
                    () = self.0.alarm.notified() => break,
                    Some(()) = telling.next() => {}
                }
            }
        }
    }

    /// Tells what was seen of these rooms, which are of one shard. If that is away, it is not asked about all of them, but
    /// soon again.
    async fn testify_of(&self, rooms: Vec<RoomId>) {
        let is_away = AtomicBool::new(false);
        let all = stream::iter(rooms).for_each_concurrent(AT_ONCE, async |room| {
            if !is_away.load(Ordering::Relaxed) {
                let Err(error) = self.testify(&room).await else { return };
                tracing::debug!(%room, %error, "what was seen of a room could not be told");
                is_away.fetch_or(matches!(error, StoreError::Unavailable(_)), Ordering::Relaxed);
            }
            self.alarmed().insert(room);
        });
        all.await;
        if is_away.into_inner() {
            sleep(AGAIN_AFTER).await;
            self.0.alarm.notify_one();
        }
    }

    fn by_shard(&self, rooms: impl IntoIterator<Item = RoomId>) -> BTreeMap<String, Vec<RoomId>> {
        let mut shards = BTreeMap::<_, Vec<_>>::new();
        for room in rooms {
            shards.entry(self.0.store.shard_of(&room)).or_default().push(room);
        }
        shards
    }

    /// Something is wrong with `room`, or the leader asks about it.
    pub(super) fn note_alarm(&self, room: RoomId) {
        self.alarmed().insert(room);
        self.0.alarm.notify_one();
    }

    /// While nobody listened here, the leader may have asked about any room.
    pub(super) fn note_what_was_missed(&self) {
        let rooms = self.rooms();
        // Nor has it heard what was ended meanwhile.
        for known in &rooms {
            known.forget_recalled();
        }
        let rooms = rooms.iter().map(|known| known.snapshot().room.clone());
        self.alarmed().extend(rooms);
        self.0.alarm.notify_one();
    }

    fn alarmed(&self) -> MutexGuard<'_, BTreeSet<RoomId>> {
        self.0.alarmed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells what this service has seen of `room`, if the leader asks and has not been told.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn testify(&self, room: &RoomId) -> Result<(), StoreError> {
        // Last words are told without being asked: whoever asks comes later, in another round.
        match self.0.store.round(room).await?.filter(|round| *round != LAST_WORDS) {
            Some(round) => {
                let seen = self.0.store.memory().room(room).testify(&round);
                let Some(seen) = seen else { return Ok(()) };
                self.tell(room, &round, &seen).await
            }
            None => Ok(()),
        }
    }

    /// Tells what this service has seen of rooms that have gone back, though the leader may not have asked yet: after
    /// the stop nobody can ask it. While Redis is away it may be about to come back older. Returns whether of every room
    /// Redis holds all that was seen, or was told it.
    pub(super) async fn say_last_words(&self) -> bool {
        let has_told_all = AtomicBool::new(true);
        let rooms = self.rooms().into_iter().map(|known| known.snapshot().room.clone());
        let shards = self.by_shard(rooms).into_values();
        let all = join_all(shards.map(|rooms| self.say_last_words_in(rooms, &has_told_all)));
        timeout(PATIENCE, all).await.is_ok() && has_told_all.into_inner()
    }

    /// The same of these rooms, which are of one shard.
    async fn say_last_words_in(&self, rooms: Vec<RoomId>, has_told_all: &AtomicBool) {
        let all = stream::iter(rooms).for_each_concurrent(AT_ONCE, async |room| {
            let Some(known) = self.room(room.as_str()) else { return };
            if !self.tries_last_words_of(&known).await {
                has_told_all.store(false, Ordering::Relaxed);
            }
        });
        all.await;
    }

    /// The same of one room, for as long as Redis is away.
    async fn tries_last_words_of(&self, known: &KnownRoom) -> bool {
        let (room, epoch) = (&known.snapshot().room, known.snapshot().reset_epoch);
        while let Err(error) = self.say_last_words_of(room, epoch).await {
            tracing::debug!(%room, %error, "what was seen of a room could not be told");
            if !matches!(error, StoreError::Unavailable(_) | StoreError::Overloaded) {
                return false;
            }
            sleep(AGAIN_AFTER).await;
        }
        true
    }

    async fn say_last_words_of(&self, room: &RoomId, epoch: u64) -> Result<(), StoreError> {
        let store = &self.0.store;
        let is_well = match store.read_snapshot(room).await {
            Ok(Some(snapshot)) => match self.recollect_late(&snapshot) {
                Some(Late { round, seen }) => return self.tell(room, &round, &seen).await,
                None => true,
            },
            Ok(None) => store.tombstone(room).await? >= epoch,
            Err(StoreError::Rewound) => false,
            Err(error) => return Err(error),
        };
        if is_well {
            return Ok(());
        }
        // Who starts after this stop asks about the rooms that are listed: one that is not would not exist for it.
        store.list_room(room).await?;
        let seen = store.memory().room(room).testify(LAST_WORDS);
        let Some(seen) = seen else { return Ok(()) };
        self.tell(room, LAST_WORDS, &seen).await
    }

    /// What this service has seen, if `snapshot` says that the leader still assumes the worst until it says so.
    pub(super) fn recollect_late(&self, snapshot: &RoomSnapshot) -> Option<Late> {
        if !snapshot.awaits.contains(&self.0.instance) {
            return None;
        }
        let round = late_round(snapshot);
        let mut seen = self.0.store.memory().room(&snapshot.room).testify(&round)?;
        let known = self.room(snapshot.room.as_str()).map(|known| known.snapshot());
        let known = known.filter(|known| known.reset_epoch == seen.stamp.reset_epoch);
        seen.left_out = known.map(|known| known.left_out.clone()).unwrap_or_default();
        Some(Late { round, seen })
    }

    /// Tells it although nobody waits for it any more.
    pub(super) async fn testify_late(&self, room: &RoomId, late: Late) {
        if let Err(error) = self.tell(room, &late.round, &late.seen).await {
            tracing::debug!(%room, %error, "what was seen of a room could not be told");
        }
    }

    /// Tells it in this round.
    async fn tell(
        &self,
        room: &RoomId,
        round: &str,
        seen: &Recollection,
    ) -> Result<(), StoreError> {
        let telling = Telling(Some(self.0.store.memory().room(room)));
        self.tell_all(room, round, seen).await?;
        telling.end();
        Ok(())
    }

    /// The account comes last: who stops before has told nothing.
    async fn tell_all(
        &self,
        room: &RoomId,
        round: &str,
        seen: &Recollection,
    ) -> Result<(), StoreError> {
        let places = self.0.store.tell_places(room, &seen.places).await?;
        let buried = self.buried_upto(room).await;
        let account = Account { buried, ..self.account(room, round, seen, places) };
        self.0.store.testify(room, &self.0.instance, &account).await
    }

    fn account(
        &self,
        room: &RoomId,
        round: &str,
        seen: &Recollection,
        places: Vec<PlacesPage>,
    ) -> Account {
        let known = self.room(room.as_str());
        let stored = known.as_ref().and_then(|known| known.stored_config());
        let heard_at = known.as_ref().map(|known| known.heard().1);
        let there = heard_at.map(|_| self.0.witnesses.after(heard_at)).unwrap_or_default();
        Account {
            round: round.to_owned(),
            is_last: round == LAST_WORDS,
            testimony: known.as_ref().map(|known| testimony(known, seen)),
            config: stored.as_ref().map(|stored| stored.config.clone()),
            draws: stored.map(|stored| stored.draws.clone()).unwrap_or_default(),
            buried: 0,
            left_out: seen.left_out.clone(),
            seats_epoch: seen.seats.reset_epoch(),
            seats: seen.seats.taken(),
            endings: seen.seats.ended(),
            calls: seen.calls.told(),
            alarm: seen.alarm,
            gone: self.0.witnesses.stopped_before(heard_at),
            there,
            places_epoch: seen.places.reset_epoch(),
            places,
            rest: None,
        }
    }
}

/// What those who were silent name their answer.
fn late_round(snapshot: &RoomSnapshot) -> String {
    format!("late:{}:{}", snapshot.reset_epoch, snapshot.generation)
}

fn testimony(known: &KnownRoom, seen: &Recollection) -> Testimony {
    let last = known.snapshot();
    let highest = known.memory().watermarks().get();
    let of_epoch = highest.reset_epoch == seen.stamp.reset_epoch;
    let (serving_counter, served_at) =
        seen.served.unwrap_or((last.serving_counter, last.stamp().age()));
    Testimony {
        stamp: seen.stamp.clone(),
        queue_counter: if of_epoch { highest.queue_counter } else { 0 },
        admitted: if of_epoch { highest.admitted } else { 0 },
        known_upto: seen.places.known_upto(seen.stamp.reset_epoch),
        serving_counter,
        served_at,
        last: (*last).clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_told_to_the_end_is_told_again() {
        let memory = Arc::new(RoomMemory::default());
        assert!(memory.testify("round").is_some());
        assert!(memory.testify("round").is_none());
        drop(Telling(Some(Arc::clone(&memory))));
        assert!(memory.testify("round").is_some(), "whoever waited for it has gone");
        Telling(Some(Arc::clone(&memory))).end();
        assert!(memory.testify("round").is_none());
    }
}
