//! `GET /v1/rooms/{room}/logo`

use std::sync::Arc;

use axum::{
    extract::State,
    http::{
        HeaderValue,
        header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS},
    },
    response::{IntoResponse, Response},
};
use base64::{Engine, engine::general_purpose::STANDARD};
use vestibule_runtime::{Problem, ProblemType, extract::Path};

use crate::{
    endpoints::responses::{InvalidRequest, NoSuchFile, Refusals},
    extractors::RoomPath,
    state::Controller,
};

/// Tells a room's logo, as it was put.
#[utoipa::path(
    get, path = "/v1/rooms/{room}/logo", tag = "pages",
    params(RoomPath),
    responses(
        (status = 200, description = "The image", body = Vec<u8>, content_type = "image/*"),
        InvalidRequest, NoSuchFile, Refusals,
    )
)]
pub(crate) async fn get_logo(
    State(controller): State<Arc<Controller>>,
    Path(RoomPath { room }): Path<RoomPath>,
) -> Result<Response, Problem> {
    let config = controller.rooms.read_config(&room).await?;
    let none = || Problem::new(ProblemType::NotFound).detail("the room has no logo");
    let logo = config.binding.branding.logo.ok_or_else(none)?;
    let bytes = STANDARD.decode(&logo.base64).map_err(|error| Problem::internal(&error))?;
    let media_type = HeaderValue::from_str(&logo.media_type);
    let headers = [
        (CONTENT_TYPE, media_type.map_err(|error| Problem::internal(&error))?),
        (CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'; sandbox")),
        (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    ];
    Ok((headers, bytes).into_response())
}
