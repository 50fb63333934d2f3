//! `GET /v1/rooms/{room}`

use std::sync::Arc;

use axum::extract::State;
use vestibule_runtime::{
    Problem,
    extract::{Json, Path},
};

use crate::{
    api_types::{Draft, Room},
    endpoints::responses::{InvalidRequest, NoSuchRoom, Refusals},
    extractors::RoomPath,
    state::Controller,
};

/// Tells a room's own settings, whatever event is in force.
#[utoipa::path(
    get, path = "/v1/rooms/{room}", tag = "rooms",
    params(RoomPath),
    responses((status = 200, description = "The room", body = Room), InvalidRequest, NoSuchRoom, Refusals)
)]
pub(crate) async fn get_room(
    State(controller): State<Arc<Controller>>,
    Path(RoomPath { room }): Path<RoomPath>,
) -> Result<Json<Room>, Problem> {
    let config = controller.rooms.read_config(&room).await?;
    Ok(Json(Room::new(room, Draft::from_config(&config))))
}
