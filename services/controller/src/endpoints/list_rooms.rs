//! `GET /v1/rooms`

use std::sync::Arc;

use axum::extract::State;
use vestibule_issuance::problem_of;
use vestibule_runtime::{Problem, extract::Json};

use crate::{
    access::Caller,
    api_types::{Draft, Room, RoomList},
    endpoints::responses::Refusals,
    state::Controller,
};

/// Lists the rooms that the token is for, by name.
#[utoipa::path(
    get, path = "/v1/rooms", tag = "rooms",
    responses((status = 200, description = "The rooms", body = RoomList), Refusals)
)]
pub(crate) async fn list_rooms(
    State(controller): State<Arc<Controller>>,
    caller: Caller,
) -> Result<Json<RoomList>, Problem> {
    let configs = controller.rooms.read_configs().await.map_err(|error| problem_of(&error))?;
    let configs = configs.into_iter().filter(|(room, _)| caller.rooms.covers(room.as_str()));
    let room = |(room, config)| Room::new(room, Draft::from_config(&config));
    Ok(Json(RoomList { rooms: configs.map(room).collect() }))
}
