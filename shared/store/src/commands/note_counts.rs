//! What a service has counted by itself, for the history.

use serde::{Deserialize, Serialize};
use vestibule_domain::{RoomId, ledger::Figure};

use super::traffic::field;
use crate::{Store, StoreError, scripts};

#[derive(Serialize)]
struct Arguments {
    counts: Vec<(String, u64)>,
}

#[derive(Deserialize)]
struct Reply {}

impl Store {
    /// Adds counts to those of a minute, since 1970, in this service's region. One that is closed already is closed once
    /// more.
    ///
    /// # Errors
    /// [`StoreError::RoomMissing`]; otherwise see [`StoreError`].
    pub async fn note_counts(
        &self,
        room: &RoomId,
        minute: u64,
        counts: impl IntoIterator<Item = (Figure, u64)>,
    ) -> Result<(), StoreError> {
        let one = |(figure, count)| (field(minute, self.region(), figure), count);
        let arguments = Arguments { counts: counts.into_iter().map(one).collect() };
        self.call::<Reply>(&scripts::NOTE_COUNTS, room, &arguments).await.map(drop)
    }
}
