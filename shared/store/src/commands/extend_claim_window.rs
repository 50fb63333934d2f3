//! Extends the claim window of a visitor who waits for a seat without claiming.

use serde::{Deserialize, Serialize};
use vestibule_domain::RoomId;

use crate::{Store, StoreError, scripts};

#[derive(Serialize)]
struct Arguments {
    reset_epoch: u64,
    position: u64,
}

#[derive(Deserialize)]
struct Reply {
    served: bool,
}

impl Store {
    /// Starts the claim window of `position` anew, because its visitor found no free seat. Returns
    /// `false`, and changes nothing, if the position is not served.
    ///
    /// # Errors
    /// [`StoreError::RoomMissing`]; otherwise see [`StoreError`].
    pub async fn extend_claim_window(
        &self,
        room: &RoomId,
        reset_epoch: u64,
        position: u64,
    ) -> Result<bool, StoreError> {
        let arguments = Arguments { reset_epoch, position };
        let reply: Reply = self.call(&scripts::EXTEND_CLAIM_WINDOW, room, &arguments).await?;
        Ok(reply.served)
    }
}
