//! `GET /v1/rooms`

use std::sync::Arc;

use axum::extract::State;
use vestibule_issuance::problem_of;
use vestibule_runtime::{Problem, extract::Json};

use crate::{
    api_types::{Draft, Room, RoomList},
    openapi::Refusals,
    state::Controller,
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
        let config = controller.store.read_config(&room).await;
        if let Some(config) = config.map_err(|error| problem_of(&error))? {
            rooms.push(Room::new(room, Draft::from_config(&config)));
        }
    }
    Ok(Json(RoomList { rooms }))
}
