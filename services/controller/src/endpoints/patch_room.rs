//! `PATCH /v1/rooms/{room}`

use std::sync::Arc;

use axum::extract::State;
use vestibule_domain::schedule::RoomConfig;
use vestibule_runtime::{
    Problem,
    extract::{Json, Path},
};

use crate::{
    access::Caller,
    api_types::{Draft, Members, Room},
    audit::Trail,
    endpoints::responses::{BodyRefusals, Busy, InvalidRequest, NoSuchRoom, Refusals},
    extractors::RoomPath,
    rooms::Rollout,
    state::Controller,
};

/// Changes some of a room's settings, by JSON merge patch (RFC 7396).
///
/// What is left out stays as it is; `null` is a value where a setting may be null. Takes effect at
/// once, while people wait, and in events that leave a setting to the room.
#[utoipa::path(
    patch, path = "/v1/rooms/{room}", tag = "rooms",
    params(RoomPath),
    request_body(content = Room, content_type = "application/merge-patch+json"),
    responses(
        (status = 200, description = "The room as it is now", body = Room),
        BodyRefusals, Busy, InvalidRequest, NoSuchRoom, Refusals,
    )
)]
pub(crate) async fn patch_room(
    State(controller): State<Arc<Controller>>,
    caller: Caller,
    trail: Trail,
    Path(RoomPath { room }): Path<RoomPath>,
    Json(members): Json<Members>,
) -> Result<(Rollout, Json<Room>), Problem> {
    let now_s = controller.rooms.now_ms_in(&room).await? / 1000;
    let change = |config: &mut RoomConfig| {
        let draft = members.clone().merge(&room, &Draft::from_config(config))?;
        let before = config.clone();
        draft.put_into(config);
        controller.configs.check_settings(&caller, Some(&before), config, now_s)?;
        Ok(Draft::from_config(config))
    };
    let (draft, rollout) = controller.configs.change(&caller, &trail, &room, change).await?;
    Ok((rollout, Json(Room::new(room, draft))))
}
