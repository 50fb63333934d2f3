//! `DELETE /v1/rooms/{room}`

use std::sync::Arc;

use axum::{extract::State, http::StatusCode};
use serde::Deserialize;
use utoipa::IntoParams;
use vestibule_runtime::{
    Problem,
    extract::{Path, Query},
};

use crate::{
    audit::Trail,
    endpoints::responses::{InvalidRequest, NoSuchRoom, Occupied, Refusals},
    extractors::RoomPath,
    rooms::Rollout,
    state::Controller,
};

/// Whom a deletion may throw out.
#[derive(Debug, Clone, Copy, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Crowd {
    /// How many people may wait in the room and be inside, at most. Nobody, if left out.
    #[serde(default)]
    people: u64,
}

/// Deletes a room with its line, its sessions and its history.
///
/// A room with people in it, waiting or inside, is deleted only if `people` is at least their number: `waiting` and
/// `active_users` of its status together. They are counted in the step that deletes it.
#[utoipa::path(
    delete, path = "/v1/rooms/{room}", tag = "rooms",
    params(RoomPath, Crowd),
    responses((status = 204, description = "Deleted"), InvalidRequest, NoSuchRoom, Occupied, Refusals)
)]
pub(crate) async fn delete_room(
    State(controller): State<Arc<Controller>>,
    trail: Trail,
    Path(RoomPath { room }): Path<RoomPath>,
    Query(Crowd { people }): Query<Crowd>,
) -> Result<(StatusCode, Rollout), Problem> {
    controller.rooms.require_whole_keyspace().await?;
    Ok((StatusCode::NO_CONTENT, controller.configs.delete(&trail, &room, people).await?))
}
