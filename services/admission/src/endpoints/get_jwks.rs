//! `GET /.well-known/jwks.json`: the public keys that verify tokens.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    http::header::CACHE_CONTROL,
    response::{IntoResponse, Response},
};
use vestibule_runtime::problem::{Problem, ProblemType};
use vestibule_token::Jwks;

use crate::{endpoints::responses::Busy, state::Admission};

/// The public keys
///
/// The key that signs, the next one if there is one, and all others whose tokens may still be valid.
/// The next one is published for five minutes, unless the operator said otherwise, before it signs:
/// a gateway that looks more often than that knows every `kid` it meets.
#[utoipa::path(
    get, path = "/.well-known/jwks.json", operation_id = "get_jwks", tag = "keys",
    responses(
        (status = 200, description = "A JSON Web Key Set", body = Jwks),
        Busy,
    )
)]
pub(crate) async fn get_jwks(State(admission): State<Arc<Admission>>) -> Result<Response, Problem> {
    Ok(([(CACHE_CONTROL, "public, max-age=60")], Json(published(&admission)?)).into_response())
}

/// The keys that are published now.
///
/// # Errors
/// If there are none yet.
pub(super) fn published(admission: &Admission) -> Result<Jwks, Problem> {
    // Every room has the same clock; without rooms no key has been used, so none can be outdated.
    let now_ms = admission.feed.rooms().iter().map(|room| room.now_ms()).max().unwrap_or(0);
    let jwks = admission.keys.jwks(now_ms / 1000);
    if jwks.keys.is_empty() {
        return Err(Problem::new(ProblemType::RedisUnavailable));
    }
    Ok(jwks)
}
