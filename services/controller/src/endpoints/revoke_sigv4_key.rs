//! `DELETE /v1/sigv4-keys/{access_key_id}`

use std::sync::Arc;

use axum::{extract::State, http::StatusCode};
use serde::Deserialize;
use serde_json::Value;
use utoipa::IntoParams;
use vestibule_domain::access::ApiSigner;
use vestibule_runtime::{Problem, extract::Path};

use super::{create_sigv4_key::ListedSigV4Key, create_token::token_problem};
use crate::{
    audit::Trail,
    endpoints::responses::{NoSuchToken, Refusals, TakenToken},
    state::Controller,
};

/// Which key.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct SigV4KeyAddress {
    /// Its name.
    access_key_id: String,
}

/// Revokes a key by which requests were signed.
///
/// Within a second no controller takes it any more. One that the option gives stays until the controllers are
/// restarted without it.
#[utoipa::path(
    delete, path = "/v1/sigv4-keys/{access_key_id}", tag = "tokens", params(SigV4KeyAddress),
    responses((status = 204, description = "Revoked"), NoSuchToken, TakenToken, Refusals)
)]
pub(crate) async fn revoke_sigv4_key(
    State(controller): State<Arc<Controller>>,
    trail: Trail,
    Path(SigV4KeyAddress { access_key_id }): Path<SigV4KeyAddress>,
) -> Result<StatusCode, Problem> {
    let now = controller.rooms.now_ms().await? / 1000;
    trail.name_subject("sigv4 key", &access_key_id);
    let note = |signer: &ApiSigner| {
        trail.change(&ListedSigV4Key::new(signer, None).noted(), &Value::Null);
    };
    let revoked = controller.tokens.revoke_signer(&access_key_id, now, note).await;
    revoked.map_err(token_problem)?;
    Ok(StatusCode::NO_CONTENT)
}
