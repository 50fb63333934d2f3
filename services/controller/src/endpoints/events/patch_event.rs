//! `PATCH /v1/rooms/{room}/events/{event}`

use std::sync::Arc;

use axum::extract::State;
use vestibule_domain::schedule::RoomConfig;
use vestibule_runtime::{
    Problem,
    extract::{Json, Path},
};

use super::{EventAddress, find};
use crate::{
    access::Caller,
    api_types::{Event, Members},
    audit::Trail,
    endpoints::responses::{BodyRefusals, Busy, InvalidRequest, NoSuchEvent, Refusals},
    rooms::Rollout,
    state::Controller,
};

/// Changes some of an event, by JSON merge patch (RFC 7396).
///
/// What is left out stays as it is; `null` gives a setting back to the room. Takes effect at once
/// when the event is in force. What has passed, and what an open pre-queue's draw depends on,
/// stays as it is.
#[utoipa::path(
    patch, path = "/v1/rooms/{room}/events/{event}", tag = "events", params(EventAddress),
    request_body(content = Event, content_type = "application/merge-patch+json"),
    responses(
        (status = 200, description = "The event as it is now", body = Event),
        BodyRefusals, Busy, InvalidRequest, NoSuchEvent, Refusals,
    )
)]
pub(crate) async fn patch_event(
    State(controller): State<Arc<Controller>>,
    caller: Caller,
    trail: Trail,
    Path(EventAddress { room, event: name }): Path<EventAddress>,
    Json(members): Json<Members>,
) -> Result<(Rollout, Json<Event>), Problem> {
    trail.name_subject("event", &name);
    let now_s = controller.rooms.now_ms_in(&room).await? / 1000;
    let place = |config: &mut RoomConfig| {
        let before = find(config, &name)?;
        let event = members.clone().merge_event(&before)?;
        controller.configs.place_event(&room, config, event, now_s)
    };
    let ((event, _), rollout) =
        controller.configs.change_event(&caller, &trail, &room, place).await?;
    Ok((rollout, Json(event.into())))
}
