//! Following operators' changes: an instance applies each change and then reports that to Redis, so the
//! caller of a change can wait until every instance applies it.
//!
//! The push only makes this fast. A push that was missed does no harm, because the instance asks for
//! all changes since the last revision that it has applied.

use std::collections::BTreeSet;

use tokio::time::timeout;
use vestibule_domain::RoomId;

use super::{Feed, POLL};
use crate::StoreError;

// === impl Feed ===

impl Feed {
    /// Applies changes until it is dropped: see [`Self::take_in_changes`].
    pub async fn follow_changes(&self, adopt: impl Fn()) {
        loop {
            if let Err(error) = self.take_in_changes(&adopt).await {
                tracing::debug!(%error, "changes of rooms could not be read");
            }
            // Until a push comes, or [`POLL`] is over.
            let _ = timeout(POLL, self.0.changed.notified()).await;
        }
    }

    /// Reads all rooms that changed since the last time; the first time, all rooms. Then calls `adopt`,
    /// and after that reports to Redis that this instance applies the changes; unless the shard of a room that it serves
    /// is away, since what an operator has done there is not in every snapshot. Nothing is read before it is known what time
    /// it is: see [`Store::learn_time`](crate::Store::learn_time).
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn take_in_changes(&self, adopt: impl Fn()) -> Result<(), StoreError> {
        // Before it is said that this instance hears of changes: operators wait for whoever does.
        self.0.store.learn_time().await?;
        let mut taken = self.0.taken.lock().await;
        loop {
            let changes = self.0.store.take_changes(&self.0.instance, *taken).await?;
            if *taken == Some(changes.revision) {
                return Ok(());
            }
            if taken.is_none() {
                self.unless_a_shard_is_away(self.refresh().await)?;
            }
            let is_whole = self.take_in_each(&changes.rooms).await?;
            adopt();
            if !is_whole {
                // All of it is read anew the next time.
                return Ok(());
            }
            *taken = Some(changes.revision);
        }
    }

    /// Reports that this instance stops, so that no change waits for it.
    pub async fn take_in_no_more(&self) {
        // If Redis is away, the instance counts as stopped after three seconds.
        let _ = self.0.store.take_no_more_changes(&self.0.instance).await;
    }

    /// Takes in these rooms; of a Cluster, not those whose shard is away, which is asked for one of them. Returns whether
    /// none of those that this instance serves was left out.
    async fn take_in_each(&self, rooms: &[RoomId]) -> Result<bool, StoreError> {
        let (mut away, mut is_whole) = (BTreeSet::new(), true);
        for room in rooms {
            let shard = self.0.store.shard_of(room);
            if away.contains(&shard) {
                is_whole &= self.room(room.as_str()).is_none();
                continue;
            }
            match self.take_in(room).await {
                // What cannot be read is nothing to wait for: others go on, and the leader looks at it.
                Err(StoreError::Unexpected(why)) => {
                    tracing::warn!(%room, %why, "a room cannot be read");
                    self.question(room.clone());
                }
                read => {
                    if !self.unless_a_shard_is_away(read)? {
                        is_whole &= self.room(room.as_str()).is_none();
                        away.insert(shard);
                    }
                }
            }
        }
        Ok(is_whole)
    }

    /// Whether it was read; of a Cluster, rooms whose shard is away keep no others waiting.
    fn unless_a_shard_is_away(&self, read: Result<(), StoreError>) -> Result<bool, StoreError> {
        match read {
            Err(StoreError::Unavailable(_)) if self.0.store.link().has_shards() => Ok(false),
            read => read.map(|()| true),
        }
    }

    /// Reads a room anew, with its config, or forgets it if it was deleted.
    async fn take_in(&self, room: &RoomId) -> Result<(), StoreError> {
        let known = {
            let lock = self.0.reading.of(room);
            let _reading = lock.lock().await;
            match self.0.store.read_snapshot(room).await {
                Ok(Some(snapshot)) => self.receive(snapshot).await,
                // It was deleted, or Redis has lost it. Then the leader restores it.
                Ok(None) | Err(StoreError::Rewound) => self.forget_deleted().await?,
                Err(error) => return Err(error),
            }
            self.room(room.as_str())
        };
        match known {
            Some(known) => match self.refresh_config(&known).await {
                Err(StoreError::Rewound) => Ok(()),
                read => read,
            },
            None => Ok(()),
        }
    }
}
