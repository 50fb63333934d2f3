//! Deleting a room.

use serde::{Deserialize, Serialize};
use vestibule_domain::RoomId;
use vestibule_history::{Call, What};

use super::history::{DAYS_KEPT, day_of, keys_of_day};
use crate::{Store, StoreError, scripts};

/// What came of a deletion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deletion {
    /// There was no such room.
    Missing,
    /// It is gone, with those who were in it.
    Done(People),
    /// It stays as it is: more people are in it than there may be.
    Occupied(People),
}

/// Who is in a room.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct People {
    /// Who waits, and is still there.
    pub waiting: u64,
    /// Who has a seat.
    pub inside: u64,
}

#[derive(Serialize)]
struct Arguments<'a> {
    room: &'a RoomId,
    reset_epoch: u64,
    people: Option<u64>,
}

#[derive(Deserialize)]
struct Reply {
    existed: bool,
    is_later: bool,
    is_occupied: bool,
    waiting: u64,
    inside: u64,
}

impl Store {
    /// Deletes a room with all that belongs to it, its history included, if no more than so many people are in it;
    /// `None`: whoever is. Those are counted in the step that deletes it.
    ///
    /// # Errors
    /// [`StoreError::Rewound`] of a room that Redis has lost, until it is back; otherwise see [`StoreError`].
    pub async fn delete_room(
        &self,
        room: &RoomId,
        people: Option<u64>,
    ) -> Result<Deletion, StoreError> {
        let noting = self.noting(Some(room), || vec![Call::Delete]).await;
        let reply = self.delete_latest(room, people).await;
        if let Some(noting) = noting {
            let deleted = |reply: &Reply| {
                let Reply { existed, is_occupied, .. } = *reply;
                (!is_occupied).then_some(What::Deleted { existed }).into_iter().collect()
            };
            noting.settle(&reply, |_| None, deleted);
        }
        Ok(reply?.deletion())
    }

    /// Finishes a deletion that was cut short, or that Redis has lost: the room of this name goes if it is of an epoch up
    /// to `reset_epoch`. A later one is another room, whatever Redis remembers of it.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn finish_deletion(&self, room: &RoomId, reset_epoch: u64) -> Result<(), StoreError> {
        // First, so that no leader restores the room.
        self.leave_tombstone(room, reset_epoch).await?;
        let reply = self.delete_upto(room, reset_epoch, None).await?;
        // It was made meanwhile.
        if reply.is_later { self.list_room(room).await } else { Ok(()) }
    }

    /// Who is told no number leaves the tombstone first, so that no leader restores the room. Whether a number is enough
    /// only the deletion knows. If nothing comes after it, whoever has heard its push says that the room was deleted
    /// when the leader asks, or else it comes back: nobody was told that it was gone.
    async fn delete_latest(&self, room: &RoomId, people: Option<u64>) -> Result<Reply, StoreError> {
        loop {
            let reset_epoch = self.epoch_to_delete(room).await?;
            if people.is_none() {
                self.leave_tombstone(room, reset_epoch).await?;
            }
            let reply = self.delete_upto(room, reset_epoch, people).await?;
            // It was reset meanwhile.
            if reply.is_later {
                continue;
            }
            if people.is_some() && !reply.is_occupied {
                self.leave_tombstone(room, reset_epoch).await?;
            }
            return Ok(reply);
        }
    }

    /// Up to which reset epoch the room is deleted; 0: there is none. Of one that is listed, and of which nothing is stored
    /// or known here, the others know: they bring it back, whatever is said of it meanwhile.
    async fn epoch_to_delete(&self, room: &RoomId) -> Result<u64, StoreError> {
        if let Some(reset_epoch) = self.reset_epoch(room).await? {
            return Ok(reset_epoch);
        }
        if self.rooms().await?.contains(room) { Err(StoreError::Rewound) } else { Ok(0) }
    }

    async fn leave_tombstone(&self, room: &RoomId, reset_epoch: u64) -> Result<(), StoreError> {
        self.bury(room, reset_epoch).await?;
        self.unlist_room(room).await
    }

    async fn delete_upto(
        &self,
        room: &RoomId,
        reset_epoch: u64,
        people: Option<u64>,
    ) -> Result<Reply, StoreError> {
        let today = day_of(self.now_ms_in(room).await? / 60_000);
        let days = today.saturating_sub(DAYS_KEPT)..=today;
        let history: Vec<_> = days.flat_map(|day| keys_of_day(room, day)).collect();
        let arguments = Arguments { room, reset_epoch, people };
        let reply: Reply =
            self.call_with(&scripts::DELETE_ROOM, room, &history, &arguments).await?;
        let is_gone = !reply.is_occupied;
        if is_gone && self.memory().room(room).reset_epoch().is_none_or(|seen| seen <= reset_epoch)
        {
            self.memory().forget(room);
        }
        Ok(reply)
    }

    /// The latest reset epoch of `room` that is stored or was seen.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn reset_epoch(&self, room: &RoomId) -> Result<Option<u64>, StoreError> {
        let stored = self.stored_epoch(room).await?;
        Ok(stored.max(self.memory().room(room).reset_epoch()))
    }
}

// === impl Reply ===

impl Reply {
    fn deletion(&self) -> Deletion {
        let people = People { waiting: self.waiting, inside: self.inside };
        match self {
            Self { is_occupied: true, .. } => Deletion::Occupied(people),
            Self { existed: true, .. } => Deletion::Done(people),
            _ => Deletion::Missing,
        }
    }
}

// === impl People ===

impl People {
    /// How many they are.
    #[must_use]
    pub fn count(self) -> u64 {
        self.waiting + self.inside
    }
}
