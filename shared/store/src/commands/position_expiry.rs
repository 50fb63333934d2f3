//! How long a served position may still be claimed, for the AWS-style call and for the waiting page.

use serde::{Deserialize, Serialize};
use vestibule_domain::{Place, RoomId};

use crate::{Store, StoreError, scripts};

/// The expiry of a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum PositionExpiry {
    /// It may be claimed for so many seconds more.
    Claimable {
        /// Seconds left; 0 within the last second.
        seconds_left: u64,
    },
    /// In this room positions do not expire.
    Never,
    /// It is not served yet, so its time has not begun.
    NotServed,
    /// Its time is over.
    Expired,
    /// The request id is from before a reset.
    Foreign,
}

#[derive(Serialize)]
struct Arguments {
    reset_epoch: u64,
    position: u64,
    entered_at: u32,
    able_ms: Option<u64>,
}

impl Store {
    /// How long `position`, of the visitor at `place`, may still be claimed.
    ///
    /// # Errors
    /// [`StoreError::RoomMissing`]; otherwise see [`StoreError`].
    pub async fn position_expiry(
        &self,
        room: &RoomId,
        reset_epoch: u64,
        place: &Place,
        position: u64,
    ) -> Result<PositionExpiry, StoreError> {
        let able_ms = self.memory().standing().able_ms();
        let entered_at = place.entered_at;
        let arguments = Arguments { reset_epoch, position, entered_at, able_ms };
        self.call(&scripts::POSITION_EXPIRY, room, &arguments).await
    }
}
