//! `GET /room/{room}/logo/{digest}`: the logo of a waiting page that stands on this origin.

use std::sync::Arc;

use axum::{
    extract::State,
    http::{
        HeaderValue,
        header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS},
    },
    response::{IntoResponse, Response},
};
use serde::Deserialize;
use utoipa::IntoParams;
use vestibule_domain::RoomId;
use vestibule_runtime::{
    extract::Path,
    problem::{Problem, ProblemType},
};

use crate::{endpoints::responses::RoomRefusals, extractors, state::Admission};

/// Which logo.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct LogoPath {
    /// The room.
    #[param(value_type = String)]
    room: RoomId,
    /// The first 32 digits of its SHA-256, in hexadecimal, as the page has it.
    digest: String,
}

/// Get the logo of a waiting page
///
/// The page names it. Its address changes with it, so it may be kept for ever.
#[utoipa::path(
    get, path = "/room/{room}/logo/{digest}", operation_id = "get_logo", tag = "page",
    params(LogoPath),
    responses(
        (status = 200, description = "The image", body = Vec<u8>, content_type = "image/*"),
        RoomRefusals,
    )
)]
pub(crate) async fn get_logo(
    State(admission): State<Arc<Admission>>,
    Path(LogoPath { room, digest }): Path<LogoPath>,
) -> Result<Response, Problem> {
    let room = extractors::room(&admission.flows, room.as_str()).await?;
    let branding = admission.pages.brandings.get(&room.snapshot.room, &room.binding);
    let logo = branding.logo.as_ref().filter(|logo| logo.digest == digest);
    let none = || Problem::new(ProblemType::NotFound).detail("the room has no such logo");
    let logo = logo.ok_or_else(none)?;
    // Whoever opens an SVG at this address sees a picture, too: nothing in it runs, and nothing is loaded.
    let policy = "default-src 'none'; style-src 'unsafe-inline'; sandbox";
    let media_type = HeaderValue::from_str(&logo.media_type);
    let headers = [
        (CONTENT_TYPE, media_type.map_err(|error| Problem::internal(&error))?),
        (CACHE_CONTROL, HeaderValue::from_static("public, max-age=31536000, immutable")),
        (CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy)),
        (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    ];
    Ok((headers, logo.bytes.clone()).into_response())
}
