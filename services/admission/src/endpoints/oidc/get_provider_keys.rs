//! `GET /oidc/{room}/.well-known/jwks.json`: the deployment's keys, where the provider says they are.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    http::header::CACHE_CONTROL,
    response::{IntoResponse, Response},
};
use vestibule_runtime::{extract::Path, problem::Problem};
use vestibule_token::Jwks;

use super::provider::provider;
use crate::{
    endpoints::{get_jwks::published, responses::ProviderRefusals},
    extractors::RoomPath,
    state::Admission,
};

/// The provider's keys
///
/// Those of the deployment, as at `/.well-known/jwks.json`.
#[utoipa::path(
    get, path = "/oidc/{room}/.well-known/jwks.json", operation_id = "get_provider_keys",
    tag = "openid-connect", params(RoomPath),
    responses(
        (status = 200, description = "A JSON Web Key Set", body = Jwks),
        (status = 400, description = "The name is not a room's", body = Problem, content_type = "application/problem+json"),
        ProviderRefusals,
    )
)]
pub(crate) async fn get_provider_keys(
    State(admission): State<Arc<Admission>>,
    Path(RoomPath { room }): Path<RoomPath>,
) -> Result<Response, Problem> {
    let _ = provider(&admission.flows, room.as_str()).await?;
    let keys = published(&admission)?;
    Ok(([(CACHE_CONTROL, "public, max-age=60")], Json(keys)).into_response())
}
