//! `PUT /v1/rooms/{room}`

use std::sync::Arc;

use axum::{extract::State, http::StatusCode};
use vestibule_domain::{access::Role, schedule::RoomConfig};
use vestibule_runtime::{
    Problem,
    extract::{Json, Path},
};
use vestibule_store::PutOutcome;

use crate::{
    access::Caller,
    api_types::{Draft, Members, Room},
    audit::Trail,
    endpoints::responses::{BodyRefusals, Busy, InvalidRequest, Refusals},
    extractors::RoomPath,
    rooms::Rollout,
    state::Controller,
};

/// Creates a room, or replaces its settings: what is left out has its default.
///
/// Creating one needs the role `admin`. The line, the events, the page and the logo stay as they are. The document that other calls answer,
/// with its `room`, may be sent back.
#[utoipa::path(
    put, path = "/v1/rooms/{room}", tag = "rooms",
    params(RoomPath),
    request_body = Room,
    responses(
        (status = 201, description = "Created", body = Room),
        (status = 200, description = "Replaced", body = Room),
        BodyRefusals, Busy, InvalidRequest, Refusals,
    )
)]
pub(crate) async fn put_room(
    State(controller): State<Arc<Controller>>,
    caller: Caller,
    trail: Trail,
    Path(RoomPath { room }): Path<RoomPath>,
    Json(members): Json<Members>,
) -> Result<(StatusCode, Rollout, Json<Room>), Problem> {
    let draft = members.create(&room)?;
    controller.rooms.require_whole_keyspace().await?;
    let now_s = controller.rooms.now_ms_in(&room).await? / 1000;
    let replace = |config: &mut RoomConfig, is_new| {
        if is_new {
            caller.require(Role::Admin)?;
        }
        let before = (!is_new).then(|| config.clone());
        draft.put_into(config);
        controller.configs.check_settings(&caller, before.as_ref(), config, now_s)
    };
    let done = controller.configs.create_or_change(&caller, &trail, &room, replace).await?;
    let ((put, config), rollout) = done;
    let status = match put {
        PutOutcome::Created => StatusCode::CREATED,
        PutOutcome::Changed | PutOutcome::Conflict => StatusCode::OK,
    };
    Ok((status, rollout, Json(Room::new(room, Draft::from_config(&config)))))
}
