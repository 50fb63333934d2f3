//! Which rooms of a copy lie in a Redis: none before they are put back, all of them after that.

use std::{collections::BTreeSet, pin::pin};

use futures_util::{StreamExt, TryStreamExt, future::ready, stream};
use vestibule_domain::RoomId;

use crate::{
    Store, StoreError,
    keys::{Part, RoomKeys},
};

/// So many rooms are looked for at once.
const AT_ONCE: usize = 32;

impl Store {
    /// The first of these rooms of which anything lies here. Each is looked for where it would lie: of a Cluster, one
    /// server may have been emptied and another not.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn first_found(&self, rooms: &[RoomId]) -> Result<Option<RoomId>, StoreError> {
        self.first_with(rooms, &Part::ALL, |there| there > 0).await
    }

    /// The first of these rooms that is not listed, or whose line is not there, which was written last.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn first_missing(&self, rooms: &[RoomId]) -> Result<Option<RoomId>, StoreError> {
        let listed: BTreeSet<RoomId> = self.rooms().await?.into_iter().collect();
        if let Some(room) = rooms.iter().find(|room| !listed.contains(*room)) {
            return Ok(Some(room.clone()));
        }
        self.first_with(rooms, &[Part::Line], |there| there == 0).await
    }

    /// The first room of whose `parts` so many are there.
    async fn first_with(
        &self,
        rooms: &[RoomId],
        parts: &[Part],
        is_sought: impl Fn(usize) -> bool,
    ) -> Result<Option<RoomId>, StoreError> {
        let count =
            |room| async move { Ok::<_, StoreError>((room, self.count_parts(room, parts).await?)) };
        let counted = stream::iter(rooms).map(count).buffered(AT_ONCE);
        let mut sought = pin!(counted.try_filter(|(_, there)| ready(is_sought(*there))));
        Ok(sought.try_next().await?.map(|(room, _): (&RoomId, _)| room.clone()))
    }

    async fn count_parts(&self, room: &RoomId, parts: &[Part]) -> Result<usize, StoreError> {
        let mut exist = redis::cmd("EXISTS");
        for part in parts {
            exist.arg(RoomKeys(room).key(*part));
        }
        self.query(&exist).await
    }
}
