//! `GET /oidc/{room}/.well-known/openid-configuration`: what the provider tells of itself.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    http::header::CACHE_CONTROL,
    response::{IntoResponse, Response},
};
use vestibule_runtime::{extract::Path, problem::Problem};

use super::provider::{issuer, provider};
use crate::{
    endpoints::{get_jwks::published, responses::ProviderRefusals},
    extractors::RoomPath,
    oidc::Configuration,
    state::Admission,
};

/// What the provider tells of itself
///
/// OpenID Connect Discovery 1.0. A room with `oidc_clients` is a provider; its `issuer` is `{public URL}/oidc/{room}`.
#[utoipa::path(
    get, path = "/oidc/{room}/.well-known/openid-configuration", operation_id = "get_configuration",
    tag = "openid-connect", params(RoomPath),
    responses(
        (status = 200, description = "The provider's addresses, and what it supports", body = Configuration),
        (status = 400, description = "The name is not a room's", body = Problem, content_type = "application/problem+json"),
        ProviderRefusals,
    )
)]
pub(crate) async fn get_configuration(
    State(admission): State<Arc<Admission>>,
    Path(RoomPath { room }): Path<RoomPath>,
) -> Result<Response, Problem> {
    let room = provider(&admission.flows, room.as_str()).await?;
    let keys = published(&admission)?;
    let configuration = Configuration::of(&issuer(&admission.flows, &room), &keys);
    Ok(([(CACHE_CONTROL, "public, max-age=60")], Json(configuration)).into_response())
}
