//! How long a served position may still be claimed (an AWS-style call).

use vestibule_domain::{Place, RoomId};

use super::keys;
use crate::{Store, StoreError, keys::Part, scripts};

/// Where a position stands with its expiry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PositionExpiry {
    /// It may be claimed for so many seconds more.
    Claimable {
        /// Seconds left; 0 within the last second.
        seconds_left: u64,
    },
    /// In this room positions do not expire.
    Never,
    /// It is not served yet: the clock has not started.
    NotServed,
    /// Its time is over.
    Expired,
    /// The request id is of before a reset.
    Foreign,
}

impl Store {
    /// How long `position`, of the visitor at `place`, may still be claimed.
    ///
    /// # Errors
    /// [`StoreError::RoomMissing`], or as for every call to Redis.
    pub async fn position_expiry(
        &self,
        room: &RoomId,
        reset_epoch: u64,
        place: &Place,
        position: u64,
    ) -> Result<PositionExpiry, StoreError> {
        let parts = [Part::Line, Part::Settings, Part::Rows, Part::Door];
        let mut call = self.timed(&scripts::POSITION_EXPIRY, &keys(room, parts));
        call.arg(reset_epoch).arg(position).arg(place.entered_at);
        let (outcome, seconds_left): (u8, u64) = self.run(&call).await?;
        Ok(match outcome {
            1 => PositionExpiry::Claimable { seconds_left },
            2 => PositionExpiry::Never,
            3 => PositionExpiry::NotServed,
            4 => PositionExpiry::Expired,
            5 => PositionExpiry::Foreign,
            other => return Err(StoreError::unexpected(format_args!("expiry outcome {other}"))),
        })
    }
}
