//! `GET /v1/rooms/{room}/events`

use std::sync::Arc;

use axum::extract::State;
use vestibule_runtime::{
    Problem,
    extract::{Json, Path},
};

use crate::{
    api_types::{Event, EventList},
    endpoints::responses::{InvalidRequest, NoSuchRoom, Refusals},
    extractors::RoomPath,
    state::Controller,
};

/// Lists a room's events, those that are over included, in the order in which they come.
#[utoipa::path(
    get, path = "/v1/rooms/{room}/events", tag = "events",
    params(RoomPath),
    responses((status = 200, description = "The events", body = EventList),
        InvalidRequest, NoSuchRoom, Refusals)
)]
pub(crate) async fn list_events(
    State(controller): State<Arc<Controller>>,
    Path(RoomPath { room }): Path<RoomPath>,
) -> Result<Json<EventList>, Problem> {
    let mut events = controller.rooms.read_config(&room).await?.events;
    events.sort_by(|one, other| (one.opens(), &one.name).cmp(&(other.opens(), &other.name)));
    Ok(Json(EventList { events: events.into_iter().map(Event::from).collect() }))
}
