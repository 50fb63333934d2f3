//! What an operator does to a room's line: moves the serving counter, or starts the room afresh.

use serde::{Deserialize, Serialize};
use vestibule_domain::RoomId;
use vestibule_history::{Call, What};

use super::RoomOnly;
use crate::{Store, StoreError, scripts};

#[derive(Serialize)]
struct Increment<'a> {
    room: &'a RoomId,
    by: i64,
}

#[derive(Deserialize)]
struct Incremented {
    reset_epoch: u64,
    serving_counter: i64,
}

#[derive(Deserialize)]
struct Reset {
    reset_epoch: u64,
}

impl Store {
    /// Moves the serving counter by `by`, which may be negative or 0; returns where it stands.
    ///
    /// # Errors
    /// [`StoreError::RoomMissing`]; otherwise see [`StoreError`].
    pub async fn increment(&self, room: &RoomId, by: i64) -> Result<i64, StoreError> {
        let noting = self.noting(Some(room), || vec![Call::Increment { by }]).await;
        let reply: Result<Incremented, _> =
            self.call(&scripts::INCREMENT, room, &Increment { room, by }).await;
        if let Some(noting) = noting {
            noting.answer(&reply, |&Incremented { reset_epoch, serving_counter }| {
                What::Incremented { reset_epoch, by, serving_counter }
            });
        }
        Ok(reply?.serving_counter)
    }

    /// Starts a room afresh, atomically: numbers begin at 1, every earlier request id, ticket and
    /// session is void; the settings stay. Returns the new reset epoch.
    ///
    /// # Errors
    /// [`StoreError::RoomMissing`]; otherwise see [`StoreError`].
    pub async fn reset(&self, room: &RoomId) -> Result<u64, StoreError> {
        let noting = self.noting(Some(room), || vec![Call::Reset]).await;
        let reply: Result<Reset, _> = self.call(&scripts::RESET, room, &RoomOnly { room }).await;
        if let Some(noting) = noting {
            noting.answer(&reply, |reply| What::Reset { reset_epoch: reply.reset_epoch });
        }
        Ok(reply?.reset_epoch)
    }
}
