//! `PATCH /v1/rooms/{room}`

use std::sync::Arc;

use axum::extract::State;
use vestibule_domain::{RoomId, RoomSettings};
use vestibule_entry::problem_of;
use vestibule_runtime::{
    Problem, ProblemType,
    extract::{Json, Path},
};
use vestibule_store::Put;

use crate::{
    openapi::{InvalidRequest, NoSuchRoom, Refusals},
    state::Controller,
    wire::{Members, Room},
};

/// How often a change starts over because someone else's came in between.
const ATTEMPTS: usize = 5;

/// Changes some of a room's settings, by JSON merge patch (RFC 7396).
///
/// What is left out stays as it is; `null` is a value where a setting may be null. Takes effect at
/// once, while people wait.
#[utoipa::path(
    patch, path = "/v1/rooms/{room}", tag = "rooms",
    params(("room" = String, Path, description = "Its name")),
    request_body(content = Room, content_type = "application/merge-patch+json"),
    responses(
        (status = 200, description = "The room as it is now", body = Room),
        (status = 409, description = "Others keep changing it", body = Problem,
            content_type = "application/problem+json"),
        InvalidRequest, NoSuchRoom, Refusals,
    )
)]
pub(crate) async fn patch_room(
    State(controller): State<Arc<Controller>>,
    Path(room): Path<RoomId>,
    Json(members): Json<Members>,
) -> Result<Json<Room>, Problem> {
    let mut refused: Option<RoomSettings> = None;
    for _ in 0..ATTEMPTS {
        let current = controller.read_room(&room).await?.settings;
        let settings = members.clone().merge(&room, &current)?;
        // Refused, and yet the same: an older release has spelled these settings differently.
        let expected = (refused.as_ref() != Some(&current)).then_some(&current);
        let put = controller.store.put_room(&room, &settings, expected).await;
        if put.map_err(|error| problem_of(&error))? != Put::Conflict {
            controller.take_in(&room).await;
            return Ok(Json(Room::new(room, settings)));
        }
        refused = Some(current);
    }
    Err(Problem::new(ProblemType::Conflict).detail("others keep changing this room"))
}
