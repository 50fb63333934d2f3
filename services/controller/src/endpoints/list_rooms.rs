//! `GET /v1/rooms`

use std::sync::Arc;

use axum::extract::State;
use vestibule_entry::problem_of;
use vestibule_runtime::{Problem, extract::Json};

use crate::{
    openapi::Refusals,
    state::Controller,
    wire::{Draft, Room, RoomList},
};

/// Lists all rooms, by name.
#[utoipa::path(
    get, path = "/v1/rooms", tag = "rooms",
    responses((status = 200, description = "The rooms", body = RoomList), Refusals)
)]
pub(crate) async fn list_rooms(
    State(controller): State<Arc<Controller>>,
) -> Result<Json<RoomList>, Problem> {
    let names = controller.store.rooms().await.map_err(|error| problem_of(&error))?;
    let mut rooms = Vec::with_capacity(names.len());
    for room in names {
        // One that has just been deleted is left out.
        let program = controller.store.read_program(&room).await;
        if let Some(program) = program.map_err(|error| problem_of(&error))? {
            rooms.push(Room::new(room, Draft::of(&program)));
        }
    }
    Ok(Json(RoomList { rooms }))
}
