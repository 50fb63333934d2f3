//! `DELETE /v1/rooms/{room}/page`

use std::sync::Arc;

use axum::{extract::State, http::StatusCode};
use vestibule_domain::schedule::RoomConfig;
use vestibule_runtime::{Problem, extract::Path};

use crate::{
    access::Caller,
    audit::Trail,
    endpoints::responses::{Busy, InvalidRequest, NoSuchRoom, Refusals},
    extractors::RoomPath,
    rooms::Rollout,
    state::Controller,
};

/// Takes a room's own waiting page away: the default page is shown.
#[utoipa::path(
    delete, path = "/v1/rooms/{room}/page", tag = "pages",
    params(RoomPath),
    responses(
        (status = 204, description = "There is none any more"),
        Busy, InvalidRequest, NoSuchRoom, Refusals,
    )
)]
pub(crate) async fn delete_page(
    State(controller): State<Arc<Controller>>,
    caller: Caller,
    trail: Trail,
    Path(RoomPath { room }): Path<RoomPath>,
) -> Result<(StatusCode, Rollout), Problem> {
    controller.rooms.require_whole_keyspace().await?;
    let change = |config: &mut RoomConfig| {
        config.binding.branding.html = None;
        Ok(())
    };
    let ((), rollout) = controller.configs.change(&caller, &trail, &room, change).await?;
    Ok((StatusCode::NO_CONTENT, rollout))
}
