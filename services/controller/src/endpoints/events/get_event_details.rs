//! `GET /v1/rooms/{room}/events/{event}/details`

use std::sync::Arc;

use axum::extract::State;
use vestibule_runtime::{
    Problem,
    extract::{Json, Path},
};

use super::{EventAddress, find};
use crate::{
    api_types::EventDetails,
    endpoints::responses::{InvalidRequest, NoSuchEvent, Refusals},
    state::Controller,
};

/// Tells what an event brings into force, with what it leaves to its room as the room is now, and
/// how far it has come.
#[utoipa::path(
    get, path = "/v1/rooms/{room}/events/{event}/details", tag = "events", params(EventAddress),
    responses((status = 200, description = "The event, resolved", body = EventDetails),
        InvalidRequest, NoSuchEvent, Refusals)
)]
pub(crate) async fn get_event_details(
    State(controller): State<Arc<Controller>>,
    Path(EventAddress { room, event }): Path<EventAddress>,
) -> Result<Json<EventDetails>, Problem> {
    let config = controller.rooms.read_config(&room).await?;
    let event = find(&config, &event)?;
    let state = config.state_of(&event, controller.rooms.now_ms_in(&room).await?);
    let settings = config.resolved(&event);
    Ok(Json(EventDetails::new(event, &settings, state)))
}
