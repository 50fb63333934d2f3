//! `PUT /v1/rooms/{room}/logo`

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    http::StatusCode,
};
use vestibule_domain::schedule::RoomConfig;
use vestibule_runtime::{Problem, ProblemType, extract::Path};

use crate::{
    api_types::{MAX_LOGO, logo},
    audit::Trail,
    endpoints::responses::{BodyRefusals, Busy, InvalidRequest, NoSuchRoom, Refusals},
    extractors::{RoomPath, Upload},
    rooms::Rollout,
    state::Controller,
};

/// Puts a logo on a room's default page.
///
/// An image of at most 32 KiB: PNG, JPEG, GIF, WebP or SVG. It becomes part of the page, so nothing
/// is loaded from elsewhere; in an SVG no script runs.
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
    trail: Trail,
    Path(RoomPath { room }): Path<RoomPath>,
    request: Request,
) -> Result<(StatusCode, Rollout), Problem> {
    let upload = Upload::read(request, MAX_LOGO).await?;
    let logo = logo(&upload.media_type, &upload.bytes).ok_or_else(|| {
        Problem::new(ProblemType::InvalidRequest).detail(
            "Content-Type must be image/png, image/jpeg, image/gif, image/webp or image/svg+xml, \
             and the body such an image",
        )
    })?;
    controller.rooms.require_whole_keyspace().await?;
    let change = |config: &mut RoomConfig| {
        config.binding.branding.logo = Some(logo.clone());
        Ok(())
    };
    let ((), rollout) = controller.configs.change(&trail, &room, change).await?;
    Ok((StatusCode::NO_CONTENT, rollout))
}
