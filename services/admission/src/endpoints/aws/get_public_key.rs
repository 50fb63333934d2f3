//! `GET /public_key`: the public key that verifies new tokens, as a bare JWK.

use std::sync::Arc;

use axum::{
    Json,
    extract::{RawQuery, State},
    http::header::CACHE_CONTROL,
    response::{IntoResponse, Response},
};
use vestibule_issuance::aws::{AwsBadRequest, AwsError};
use vestibule_token::Jwk;

use super::event::{EventQuery, event, required};
use crate::{endpoints::responses::Busy, state::Admission};

/// Get the public key (AWS-style)
///
/// The key that signs new tokens. Gateways that verify tokens through a key rotation should use
/// `/.well-known/jwks.json`.
#[utoipa::path(
    get, path = "/public_key", operation_id = "get_public_key", tag = "aws-style",
    params(EventQuery),
    responses(
        (status = 200, description = "A JSON Web Key", body = Jwk),
        AwsBadRequest, Busy,
    )
)]
pub(crate) async fn get_public_key(
    State(admission): State<Arc<Admission>>,
    RawQuery(query): RawQuery,
) -> Result<Response, AwsError> {
    let [event_id] = required(query.as_deref(), ["event_id"])?;
    // The text is not that of the other calls; clients know it so.
    event(&admission, &event_id).await?.ok_or(AwsError::InvalidRequest)?;
    let key = admission.keys.public_jwk()?;
    Ok(([(CACHE_CONTROL, "public, max-age=60")], Json(key)).into_response())
}
