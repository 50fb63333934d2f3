//! `GET /v1/rooms/{room}/events/{event}`

use std::sync::Arc;

use axum::extract::State;
use vestibule_runtime::{
    Problem,
    extract::{Json, Path},
};

use super::{EventAddress, find};
use crate::{
    api_types::Event,
    endpoints::responses::{InvalidRequest, NoSuchEvent, Refusals},
    state::Controller,
};

/// Tells what an event sets.
#[utoipa::path(
    get, path = "/v1/rooms/{room}/events/{event}", tag = "events", params(EventAddress),
    responses((status = 200, description = "The event", body = Event),
        InvalidRequest, NoSuchEvent, Refusals)
)]
pub(crate) async fn get_event(
    State(controller): State<Arc<Controller>>,
    Path(EventAddress { room, event }): Path<EventAddress>,
) -> Result<Json<Event>, Problem> {
    let config = controller.rooms.read_config(&room).await?;
    Ok(Json(find(&config, &event)?.into()))
}
