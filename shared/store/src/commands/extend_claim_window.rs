//! Knocking: someone at the door waits for a seat without claiming.

use vestibule_domain::RoomId;

use super::keys;
use crate::{Store, StoreError, keys::Part, scripts};

impl Store {
    /// Notes that whoever stands at `position`, whose turn it is, found no seat and waits for one:
    /// its time to claim begins anew. Returns whether it is its turn.
    ///
    /// # Errors
    /// [`StoreError::RoomMissing`], or as for every call to Redis.
    pub async fn extend_claim_window(
        &self,
        room: &RoomId,
        reset_epoch: u64,
        position: u64,
    ) -> Result<bool, StoreError> {
        let mut call =
            self.timed(&scripts::EXTEND_CLAIM_WINDOW, &keys(room, [Part::Line, Part::Door]));
        call.arg(reset_epoch).arg(position);
        let noted: u8 = self.run(&call).await?;
        Ok(noted == 1)
    }
}
