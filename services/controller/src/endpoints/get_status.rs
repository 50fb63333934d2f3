//! `GET /v1/rooms/{room}/status`

use std::sync::Arc;

use axum::extract::State;
use vestibule_issuance::problem_of;
use vestibule_runtime::{
    Problem,
    extract::{Json, Path},
};

use crate::{
    api_types::RoomStatus,
    endpoints::responses::{InvalidRequest, NoSuchRoom, Refusals},
    extractors::RoomPath,
    state::Controller,
};

/// Tells how a room stands this moment.
///
/// `waiting`, `admissions_per_second` and `wait_seconds` are of the room's last tick.
#[utoipa::path(
    get, path = "/v1/rooms/{room}/status", tag = "rooms",
    params(RoomPath),
    responses((status = 200, description = "How it stands", body = RoomStatus),
        InvalidRequest, NoSuchRoom, Refusals)
)]
pub(crate) async fn get_status(
    State(controller): State<Arc<Controller>>,
    Path(RoomPath { room }): Path<RoomPath>,
) -> Result<Json<RoomStatus>, Problem> {
    let snapshot = controller.rooms.read(&room).await?;
    let config = controller.rooms.read_config(&room).await?;
    let ended = controller.rooms.ended_sessions(&room).await?;
    let leader = controller.store.leader().await.map_err(|error| problem_of(&error))?;
    Ok(Json(RoomStatus::new(snapshot, &config, ended, leader)))
}
