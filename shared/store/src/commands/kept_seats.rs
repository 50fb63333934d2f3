//! Seats of sessions that have ended, while gateways that verify by themselves may still take their tokens.

use serde::{Deserialize, Serialize};
use vestibule_domain::RoomId;

use crate::{Store, StoreError, scripts};

#[derive(Serialize)]
struct Arguments {
    from: u64,
    for_ms: u64,
}

#[derive(Deserialize)]
struct Page {
    seats: u64,
    #[serde(default)]
    next: Option<u64>,
}

impl Store {
    /// How many of the seats that count as taken belong to sessions that have ended. Read page by page, so it is of no
    /// one moment where many have.
    ///
    /// # Errors
    /// [`StoreError::RoomMissing`]; otherwise see [`StoreError`].
    pub async fn kept_seats(&self, room: &RoomId) -> Result<u64, StoreError> {
        self.seats_kept_for(room, 0).await
    }

    /// How many of them stay taken for `for_ms`, unless the room is reset.
    pub(crate) async fn seats_kept_for(
        &self,
        room: &RoomId,
        for_ms: u64,
    ) -> Result<u64, StoreError> {
        let (mut from, mut seats) = (0, 0);
        loop {
            let arguments = Arguments { from, for_ms };
            let page: Page = self.call(&scripts::KEPT_SEATS, room, &arguments).await?;
            seats += page.seats;
            let Some(next) = page.next else { return Ok(seats) };
            from = next;
        }
    }
}
