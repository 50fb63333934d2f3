//! `DELETE /v1/rooms/{room}`

use std::sync::Arc;

use axum::{extract::State, http::StatusCode};
use vestibule_domain::RoomId;
use vestibule_issuance::problem_of;
use vestibule_runtime::{Problem, ProblemType, extract::Path};

use crate::{
    openapi::{InvalidRequest, NoSuchRoom, Refusals},
    state::Controller,
};

/// Deletes a room with its line, its sessions and its history.
#[utoipa::path(
    delete, path = "/v1/rooms/{room}", tag = "rooms",
    params(("room" = String, Path, description = "Its name")),
    responses((status = 204, description = "Deleted"), InvalidRequest, NoSuchRoom, Refusals)
)]
pub(crate) async fn delete_room(
    State(controller): State<Arc<Controller>>,
    Path(room): Path<RoomId>,
) -> Result<StatusCode, Problem> {
    controller.require_whole_keyspace().await?;
    let deleted = controller.store.delete_room(&room).await.map_err(|error| problem_of(&error))?;
    if !deleted {
        return Err(Problem::new(ProblemType::RoomNotFound));
    }
    controller.feed.forget(&room).await;
    Ok(StatusCode::NO_CONTENT)
}
