//! Deletions: a room is forgotten only because somebody says that it was deleted, by a push or by a tombstone.

use std::{collections::BTreeMap, time::Duration};

use tokio::time::Instant;
use vestibule_domain::RoomId;

use super::Feed;
use crate::StoreError;

/// Between two readings of all tombstones. Those between ask for what is new; a release that knows no burials leaves
/// tombstones that only a reading of all finds, if its push was missed.
const READ_ALL_EVERY: Duration = Duration::from_mins(1);
/// For how long a deletion is remembered: as long as in Redis, see `scripts/lib/burials.lua`.
const KEPT: Duration = Duration::from_hours(31 * 24);

/// The rooms that are known to have been deleted.
#[derive(Debug, Default)]
pub(super) struct Deleted {
    /// Their reset epochs then, and when that was heard last.
    rooms: BTreeMap<RoomId, (u64, Instant)>,
    /// The revision of the last burial that was told; `None`: none was.
    revision: Option<u64>,
    /// When all tombstones were read.
    read_all_at: Option<Instant>,
}

// === impl Feed ===

impl Feed {
    /// Forgets a room that was deleted.
    pub async fn forget(&self, room: &RoomId) {
        self.0.store.memory().forget(room);
        self.change(|rooms| drop(rooms.remove(room))).await;
    }

    /// Forgets the rooms that were deleted.
    pub(super) async fn forget_deleted(&self) -> Result<(), StoreError> {
        let begun = Instant::now();
        let revision = self.0.deleted.lock().await.to_ask_for(begun);
        let burials = self.0.store.take_burials(revision).await?;
        for (room, epoch) in burials.rooms {
            self.bury(room, epoch).await;
        }
        let mut deleted = self.0.deleted.lock().await;
        deleted.revision = Some(burials.revision);
        if revision.is_none() {
            deleted.read_all_at = Some(begun);
            deleted.forget(begun);
        }
        Ok(())
    }

    /// Takes in that the room of this name and of epochs up to `reset_epoch` was deleted.
    pub async fn bury(&self, room: RoomId, reset_epoch: u64) {
        let known = self.room(room.as_str());
        if known.is_some_and(|known| known.snapshot().reset_epoch <= reset_epoch) {
            self.forget(&room).await;
        }
        let mut deleted = self.0.deleted.lock().await;
        let known = deleted.rooms.get(&room).map_or(0, |(epoch, _)| *epoch);
        deleted.rooms.insert(room, (reset_epoch.max(known), Instant::now()));
    }

    /// The reset epoch up to which the room of this name is known to have been deleted; 0: it is not.
    pub async fn buried_upto(&self, room: &RoomId) -> u64 {
        self.0.deleted.lock().await.rooms.get(room).map_or(0, |(epoch, _)| *epoch)
    }

    /// The rooms that are known to have been deleted, and their reset epochs then.
    pub async fn buried(&self) -> BTreeMap<RoomId, u64> {
        let deleted = self.0.deleted.lock().await;
        deleted.rooms.iter().map(|(room, (epoch, _))| (room.clone(), *epoch)).collect()
    }

    /// Takes in a deletion: the room's name, and its reset epoch. What cannot be read is found by the slow poll.
    pub(super) async fn take_deletion(&self, payload: &str) {
        let (name, epoch) = payload.split_once(' ').unwrap_or((payload, ""));
        let Ok(room) = RoomId::new(name) else { return };
        if let Ok(epoch) = epoch.parse() {
            self.bury(room, epoch).await;
        } else if epoch.is_empty() {
            self.finish_deletion(room).await;
        }
    }

    /// A release without tombstones has deleted the room of this name, and names it alone. So it is the one that is
    /// known here, unless it is there again; without a tombstone whoever has missed this push would bring it back.
    async fn finish_deletion(&self, room: RoomId) {
        let Some(known) = self.room(room.as_str()) else { return };
        let epoch = known.snapshot().reset_epoch;
        match self.entomb(&room, epoch).await {
            Ok(true) => self.bury(room, epoch).await,
            Ok(false) => {}
            Err(error) => {
                tracing::warn!(%room, %error, "a deletion could not be finished: delete it again");
            }
        }
    }

    /// Leaves a tombstone for a room that is not stored any more; returns whether that is so.
    async fn entomb(&self, room: &RoomId, epoch: u64) -> Result<bool, StoreError> {
        let store = &self.0.store;
        if store.is_stored(room).await? {
            return Ok(false);
        }
        store.bury(room, epoch).await?;
        // Somebody who knew no tombstone may have listed it again.
        store.unlist_room(room).await?;
        Ok(true)
    }
}

// === impl Deleted ===

impl Deleted {
    /// After which revision is asked; `None`: for all.
    fn to_ask_for(&self, now: Instant) -> Option<u64> {
        let is_recent = |at: Instant| now.duration_since(at) < READ_ALL_EVERY;
        self.revision.filter(|_| self.read_all_at.is_some_and(is_recent))
    }

    /// Forgets those that were heard of long ago.
    fn forget(&mut self, now: Instant) {
        self.rooms.retain(|_, (_, heard_at)| now.duration_since(*heard_at) < KEPT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_read_now_and_then_and_old_deletions_are_forgotten() {
        let (begun, mut deleted) = (Instant::now(), Deleted::default());
        assert_eq!(deleted.to_ask_for(begun), None);
        (deleted.revision, deleted.read_all_at) = (Some(7), Some(begun));
        assert_eq!(deleted.to_ask_for(begun + READ_ALL_EVERY / 2), Some(7));
        assert_eq!(deleted.to_ask_for(begun + READ_ALL_EVERY), None);
        deleted.rooms.insert(RoomId::new("sale").unwrap(), (5, begun));
        deleted.forget(begun + KEPT / 2);
        assert_eq!(deleted.rooms.len(), 1);
        deleted.forget(begun + KEPT);
        assert!(deleted.rooms.is_empty());
    }
}
