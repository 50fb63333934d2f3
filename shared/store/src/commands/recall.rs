//! Taking in what was done in a room for good before this service was there: which sessions have ended, and what
//! operators' calls were answered.

use std::{collections::BTreeSet, sync::Arc};

use serde::{Deserialize, Serialize};
use vestibule_domain::RoomId;

use crate::{AnsweredCall, Ending, Store, StoreError, scripts};

#[derive(Serialize)]
struct Arguments {
    from: u64,
}

#[derive(Deserialize)]
struct Page {
    reset_epoch: u64,
    #[serde(default)]
    numbers: Vec<u64>,
    #[serde(default)]
    expires_at: Vec<u64>,
    #[serde(default)]
    calls: Vec<(String, Arc<str>, u64)>,
    #[serde(default)]
    next: Option<u64>,
}

impl Store {
    /// Reads it, to be told if Redis loses it. `revoked`: the places in line that operators have revoked, by number.
    ///
    /// # Errors
    /// [`StoreError::RoomMissing`], [`StoreError::Rewound`]; otherwise see [`StoreError`].
    pub(crate) async fn recall(&self, room: &RoomId, revoked: &[u64]) -> Result<(), StoreError> {
        let memory = self.memory().room(room);
        let places: BTreeSet<u64> = revoked.iter().copied().collect();
        let mut from = 0;
        loop {
            let page: Page = self.call(&scripts::RECALL, room, &Arguments { from }).await?;
            let endings =
                page.numbers.iter().zip(&page.expires_at).map(|(&number, &expires_at)| Ending {
                    number,
                    expires_at,
                    is_place: places.contains(&number),
                });
            memory.take_endings(page.reset_epoch, endings);
            // Of too many the first to be forgotten here is the one that Redis forgets first.
            for (name, answer, kept_seconds) in page.calls.into_iter().rev() {
                memory.take_call(AnsweredCall { name, answer, kept_seconds });
            }
            let Some(next) = page.next else { return Ok(()) };
            from = next;
        }
    }
}
