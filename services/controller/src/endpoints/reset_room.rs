//! `POST /v1/rooms/{room}/reset`

use std::sync::Arc;

use axum::extract::State;
use vestibule_domain::RoomId;
use vestibule_issuance::problem_of;
use vestibule_runtime::{
    Problem,
    extract::{Json, Path},
};

use crate::{
    api_types::RoomStatus,
    openapi::{InvalidRequest, NoSuchRoom, Refusals},
    rooms::RoomError,
    state::Controller,
};

/// Starts a room afresh.
///
/// Numbers begin at 1, and every earlier request id, ticket and session is void. The settings, the
/// events and the history stay.
#[utoipa::path(
    post, path = "/v1/rooms/{room}/reset", tag = "rooms",
    params(("room" = String, Path, description = "Its name")),
    responses((status = 200, description = "How it stands now", body = RoomStatus),
        InvalidRequest, NoSuchRoom, Refusals)
)]
pub(crate) async fn reset_room(
    State(controller): State<Arc<Controller>>,
    Path(room): Path<RoomId>,
) -> Result<Json<RoomStatus>, Problem> {
    controller.reset(&room).await?;
    let leader = controller.store.leader().await.map_err(|error| problem_of(&error))?;
    let config = controller.read_config(&room).await?;
    Ok(Json(RoomStatus::new(controller.read_room(&room).await?, &config, leader)))
}

impl Controller {
    /// Starts `room` afresh, in Redis and in this instance's memory.
    ///
    /// # Errors
    /// [`RoomError`].
    pub async fn reset(&self, room: &RoomId) -> Result<(), RoomError> {
        match self.store.reset(room).await {
            Ok(_) => self.take_in(room).await,
            Err(error) => return Err(self.explain(room, error).await),
        }
        Ok(())
    }
}
