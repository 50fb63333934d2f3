//! Telling whoever keeps the keyspace whole that a room was not found in its latest state.

use vestibule_domain::RoomId;
use vestibule_store::StoreError;

use crate::state::Controller;

/// Tells it: this instance, if it is the one, and else the leader. A room that went back its script has told everybody
/// of; where there is none, nobody has.
pub(super) async fn report_suspect(controller: &Controller, room: &RoomId, error: &StoreError) {
    let is_told = matches!(error, StoreError::Rewound);
    controller.leadership.report_suspect(room.clone());
    if is_told || controller.leadership.role().leading().is_some() {
        return;
    }
    if let Err(error) = controller.store.raise_alarm(room).await {
        tracing::debug!(%room, %error, "the leader could not be told that a room is missing");
    }
}
