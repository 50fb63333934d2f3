//! Going from room to room where one shard of a Cluster may be away: its rooms keep nobody from those of the others, and it
//! is not waited for room after room.
//!
//! Of a single server, which all rooms are on, the same: what is not asked in this round is asked in the next one.
//!
//! A call that asks Redis nothing counts as answered, so of a shard that is away more rooms may be asked about.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use vestibule_domain::RoomId;
use vestibule_store::{Store, StoreError};

/// A shard is away when so many of its rooms in a row were asked about in vain. One room alone may be what takes too long.
const IN_A_ROW: u32 = 2;

/// The shards that were found away in one round over rooms. They are not asked again in it.
#[derive(Debug, Default)]
pub(crate) struct Away(Mutex<BTreeMap<String, InVain>>);

/// Of a shard that did not answer the last time.
#[derive(Debug)]
struct InVain {
    in_a_row: u32,
    last: StoreError,
}

// === impl Away ===

impl Away {
    /// What `call` answers, which is about `room`. It is not begun if the room's shard was found away before.
    ///
    /// # Errors
    /// As `call`.
    pub(crate) async fn ask<T>(
        &self,
        store: &Store,
        room: &RoomId,
        call: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let shard = store.shard_of(room);
        if let Some(error) = self.found(&shard) {
            return Err(error);
        }
        let answer = call.await;
        let in_a_row = self.note(shard, answer.as_ref().err());
        if let Err(error) = &answer
            && (1..=IN_A_ROW).contains(&in_a_row)
        {
            tracing::warn!(%room, %error, "redis does not answer of a room");
        }
        answer
    }

    fn found(&self, shard: &str) -> Option<StoreError> {
        let shards = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let in_vain = shards.get(shard).filter(|in_vain| in_vain.in_a_row >= IN_A_ROW);
        in_vain.map(|in_vain| in_vain.last.clone())
    }

    /// Returns how many of the shard's rooms in a row were asked about in vain.
    fn note(&self, shard: String, error: Option<&StoreError>) -> u32 {
        let mut shards = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = error.filter(|error| is_away(error)) {
            let in_a_row = shards.get(&shard).map_or(0, |before| before.in_a_row) + 1;
            shards.insert(shard, InVain { in_a_row, last: last.clone() });
            in_a_row
        } else {
            shards.remove(&shard);
            0
        }
    }
}

/// Whether the shard of the room that was asked about is away, or all of Redis.
pub(crate) fn is_away(error: &StoreError) -> bool {
    matches!(error, StoreError::Unavailable(_))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use vestibule_store::ManualClock;

    use super::*;
    use crate::parted::{Parted, START_MS};

    /// Asks about these rooms, one after the other, and returns how many calls were begun.
    async fn begun(store: &Store, rooms: &[&str]) -> u32 {
        let (away, begun) = (Away::default(), Cell::new(0));
        for room in rooms {
            let room = RoomId::new(*room).unwrap();
            let call = async {
                begun.set(begun.get() + 1);
                store.read_config(&room).await
            };
            let _ = away.ask(store, &room, call).await;
        }
        begun.get()
    }

    #[tokio::test(start_paused = true)]
    async fn a_shard_that_is_away_is_not_asked_for_room_after_room() {
        let (parted, store) = Parted::new(&ManualClock::at(START_MS));
        parted.take_away(&["a-", "c-2"]);
        assert_eq!(begun(&store, &["a-1", "a-2", "a-3", "a-4"]).await, 2);
        assert_eq!(begun(&store, &["a-1", "b-1", "a-2", "a-3", "b-2"]).await, 4);
        let one_room = begun(&store, &["c-1", "c-2", "c-3", "c-2", "c-4"]).await;
        assert_eq!(one_room, 5, "the others of its shard answer");
    }
}
