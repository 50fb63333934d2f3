//! Joining as AWS-style clients do: a queue number for later, never a seat at once.

use vestibule_store::JoinMode;

use super::{FlowError, Flows, RoomContext};

// === impl Flows ===

impl Flows {
    /// The request id of a newcomer in `room`.
    pub(crate) async fn assign_number(&self, room: &RoomContext) -> Result<String, FlowError> {
        let joined = self.joins.join(&room.snapshot.room, JoinMode::Queue).await?;
        let ciphers = self.ciphers_of(room, joined.reset_epoch);
        Ok(ciphers.request_ids.seal(joined.place)?)
    }
}
