//! `DELETE /v1/rooms/{room}/events/{event}`

use std::sync::Arc;

use axum::{extract::State, http::StatusCode};
use vestibule_domain::schedule::RoomConfig;
use vestibule_runtime::{Problem, extract::Path};

use super::{EventAddress, find};
use crate::{
    access::Caller,
    audit::Trail,
    endpoints::responses::{Busy, InvalidRequest, NoSuchEvent, Refusals},
    rooms::Rollout,
    state::Controller,
};

/// Deletes an event.
///
/// If it is in force, the room's own settings are back at once, and nobody loses the place: a
/// pre-queue that has not been drawn stands in order of arrival.
#[utoipa::path(
    delete, path = "/v1/rooms/{room}/events/{event}", tag = "events", params(EventAddress),
    responses((status = 204, description = "Deleted"),
        Busy, InvalidRequest, NoSuchEvent, Refusals)
)]
pub(crate) async fn delete_event(
    State(controller): State<Arc<Controller>>,
    caller: Caller,
    trail: Trail,
    Path(EventAddress { room, event: name }): Path<EventAddress>,
) -> Result<(StatusCode, Rollout), Problem> {
    trail.name_subject("event", &name);
    let remove = |config: &mut RoomConfig| {
        find(config, &name)?;
        config.events.retain(|event| event.name != name);
        Ok(())
    };
    let ((), rollout) = controller.configs.change(&caller, &trail, &room, remove).await?;
    Ok((StatusCode::NO_CONTENT, rollout))
}
