//! Removing keys of a room that hold what no service writes there, once it was found that the room cannot be read. Only
//! for who serves the room. What becomes of the room then is in [`super::reconcile`].

use vestibule_domain::RoomId;

use crate::state::Controller;

/// Says why the room cannot be read, and removes such keys of it.
pub(super) async fn remove(controller: &Controller, room: &RoomId, why: &str) {
    tracing::warn!(%room, %why, "a room cannot be read");
    if let Err(error) = controller.store.remove_foreign(room).await {
        tracing::debug!(%room, %error, "what is no room's could not be removed");
    }
}
