//! `PUT /v1/rooms/{room}/events/{event}`

use std::sync::Arc;

use axum::{extract::State, http::StatusCode};
use vestibule_domain::schedule::RoomConfig;
use vestibule_runtime::{
    Problem,
    extract::{Json, Path},
};

use super::EventAddress;
use crate::{
    access::Caller,
    api_types::{Event, Members},
    audit::Trail,
    endpoints::responses::{BodyRefusals, Busy, InvalidRequest, NoSuchRoom, Refusals},
    rooms::Rollout,
    state::Controller,
};

/// Creates an event, or replaces it: what is left out is the room's.
///
/// A new event begins now or later. Of one that has begun, times that have passed stay as they
/// are, and so does all that its draw depends on: pre-queue, start, draw and beacon.
#[utoipa::path(
    put, path = "/v1/rooms/{room}/events/{event}", tag = "events", params(EventAddress),
    request_body = Event,
    responses(
        (status = 201, description = "Created", body = Event),
        (status = 200, description = "Replaced", body = Event),
        BodyRefusals, Busy, InvalidRequest, NoSuchRoom, Refusals,
    )
)]
pub(crate) async fn put_event(
    State(controller): State<Arc<Controller>>,
    caller: Caller,
    trail: Trail,
    Path(EventAddress { room, event: name }): Path<EventAddress>,
    Json(members): Json<Members>,
) -> Result<(StatusCode, Rollout, Json<Event>), Problem> {
    trail.name_subject("event", &name);
    let given = members.create_event(&name)?;
    let now_s = controller.rooms.now_ms_in(&room).await? / 1000;
    let place = |config: &mut RoomConfig| {
        controller.configs.place_event(&room, config, given.clone(), now_s)
    };
    let ((event, is_new), rollout) =
        controller.configs.change_event(&caller, &trail, &room, place).await?;
    let status = if is_new { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, rollout, Json(event.into())))
}
