//! `POST /v1/rooms/{room}/reset`

use std::sync::Arc;

use axum::extract::State;
use vestibule_issuance::problem_of;
use vestibule_runtime::{
    Problem,
    extract::{IdempotencyKey, Json, Path},
};
use vestibule_store::EndedSessions;

use crate::{
    api_types::RoomStatus,
    audit::Trail,
    endpoints::responses::{InvalidRequest, NoSuchRoom, Refusals},
    extractors::RoomPath,
    state::Controller,
};

/// Starts a room afresh.
///
/// Numbers begin at 1, and every earlier request id, ticket and session is void. The settings, the
/// events and the history stay.
#[utoipa::path(
    post, path = "/v1/rooms/{room}/reset", tag = "rooms",
    params(RoomPath, IdempotencyKey),
    responses((status = 200, description = "How it stands now", body = RoomStatus),
        InvalidRequest, NoSuchRoom, Refusals)
)]
pub(crate) async fn reset_room(
    State(controller): State<Arc<Controller>>,
    trail: Trail,
    Path(RoomPath { room }): Path<RoomPath>,
    key: IdempotencyKey,
) -> Result<Json<RoomStatus>, Problem> {
    let name = key.name.unwrap_or_else(|| controller.store.call_name());
    let before = controller.rooms.read(&room).await?;
    controller.rooms.reset(&trail, &before, &name).await?;
    let leader = controller.store.leader().await.map_err(|error| problem_of(&error))?;
    let config = controller.rooms.read_config(&room).await?;
    // Nobody has had the time to end one.
    let ended = EndedSessions::default();
    Ok(Json(RoomStatus::new(controller.rooms.read(&room).await?, &config, ended, leader)))
}
