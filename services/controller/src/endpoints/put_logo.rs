//! `PUT /v1/rooms/{room}/logo`

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    http::StatusCode,
};
use base64::{Engine, engine::general_purpose::STANDARD};
use vestibule_domain::schedule::RoomConfig;
use vestibule_page::{MAX_LOGO, check_logo};
use vestibule_runtime::{Problem, ProblemType, extract::Path};
use vestibule_site::Logo;

use crate::{
    access::Caller,
    audit::Trail,
    endpoints::responses::{BodyRefusals, Busy, InvalidRequest, NoSuchRoom, Refusals},
    extractors::{RoomPath, Upload},
    rooms::Rollout,
    state::Controller,
};

/// Puts a logo on a room's default page.
///
/// An image of at most 32 KiB and 2,000 pixels a side: PNG, JPEG, GIF, WebP or SVG, in which no script runs. A page at
/// admission's own address loads it from there; in the place of a site's page it is part of the page, so nothing is
/// loaded from elsewhere. What it says to those who do not see it is the room's `logo_alt`.
#[utoipa::path(
    put, path = "/v1/rooms/{room}/logo", tag = "pages",
    params(RoomPath),
    request_body(content = Vec<u8>, content_type = "image/png", description = "The image, with its media type as `Content-Type`"),
    responses(
        (status = 204, description = "Taken"),
        BodyRefusals, Busy, InvalidRequest, NoSuchRoom, Refusals,
    )
)]
pub(crate) async fn put_logo(
    State(controller): State<Arc<Controller>>,
    caller: Caller,
    trail: Trail,
    Path(RoomPath { room }): Path<RoomPath>,
    request: Request,
) -> Result<(StatusCode, Rollout), Problem> {
    let upload = Upload::read(request, MAX_LOGO).await?;
    check_logo(&upload.media_type, &upload.bytes)
        .map_err(|error| Problem::new(ProblemType::InvalidRequest).detail(error.to_string()))?;
    controller.rooms.require_whole_keyspace().await?;
    let base64 = STANDARD.encode(&upload.bytes);
    let logo = Logo { media_type: upload.media_type, base64 };
    let change = |config: &mut RoomConfig| {
        config.binding.branding.logo = Some(logo.clone());
        Ok(())
    };
    let ((), rollout) = controller.configs.change(&caller, &trail, &room, change).await?;
    Ok((StatusCode::NO_CONTENT, rollout))
}
