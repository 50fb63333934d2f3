//! `DELETE /v1/rooms/{room}`

use std::sync::Arc;

use axum::{extract::State, http::StatusCode};
use vestibule_runtime::{Problem, extract::Path};

use crate::{
    audit::Trail,
    endpoints::responses::{InvalidRequest, NoSuchRoom, Refusals},
    extractors::RoomPath,
    rooms::Rollout,
    state::Controller,
};

/// Deletes a room with its line, its sessions and its history.
#[utoipa::path(
    delete, path = "/v1/rooms/{room}", tag = "rooms",
    params(RoomPath),
    responses((status = 204, description = "Deleted"), InvalidRequest, NoSuchRoom, Refusals)
)]
pub(crate) async fn delete_room(
    State(controller): State<Arc<Controller>>,
    trail: Trail,
    Path(RoomPath { room }): Path<RoomPath>,
) -> Result<(StatusCode, Rollout), Problem> {
    controller.rooms.require_whole_keyspace().await?;
    Ok((StatusCode::NO_CONTENT, controller.configs.delete(&trail, &room).await?))
}
