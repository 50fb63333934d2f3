//! `GET /v1/rooms/{room}/page`

use std::sync::Arc;

use axum::{
    extract::State,
    http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS},
    response::{IntoResponse, Response},
};
use vestibule_runtime::{Problem, ProblemType, extract::Path};

use crate::{
    endpoints::responses::{InvalidRequest, NoSuchFile, Refusals},
    extractors::RoomPath,
    state::Controller,
};

/// Tells a room's own waiting page, as it was put.
#[utoipa::path(
    get, path = "/v1/rooms/{room}/page", operation_id = "get_page", tag = "pages",
    params(RoomPath),
    responses(
        (status = 200, description = "The template", body = String, content_type = "text/html"),
        InvalidRequest, NoSuchFile, Refusals,
    )
)]
pub(crate) async fn get_page(
    State(controller): State<Arc<Controller>>,
    Path(RoomPath { room }): Path<RoomPath>,
) -> Result<Response, Problem> {
    let config = controller.rooms.read_config(&room).await?;
    let html = config.binding.branding.html.ok_or_else(|| {
        Problem::new(ProblemType::NotFound).detail("the room has no page of its own")
    })?;
    let headers = [
        (CONTENT_TYPE, "text/html; charset=utf-8"),
        (CONTENT_SECURITY_POLICY, "default-src 'none'; sandbox"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    Ok((headers, html).into_response())
}
