//! `DELETE /v1/tokens/{name}`

use std::sync::Arc;

use axum::{extract::State, http::StatusCode};
use serde::Deserialize;
use serde_json::Value;
use utoipa::IntoParams;
use vestibule_domain::access::ApiToken;
use vestibule_runtime::{Problem, extract::Path};

use super::create_token::{Token, token_problem};
use crate::{
    audit::Trail,
    endpoints::responses::{NoSuchToken, Refusals, TakenToken},
    state::Controller,
};

/// Which token.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct TokenAddress {
    /// Its name.
    name: String,
}

/// Revokes a token.
///
/// Within a second no controller takes it any more. One that an option gives stays until the controllers are
/// restarted without it.
#[utoipa::path(
    delete, path = "/v1/tokens/{name}", tag = "tokens", params(TokenAddress),
    responses((status = 204, description = "Revoked"), NoSuchToken, TakenToken, Refusals)
)]
pub(crate) async fn revoke_token(
    State(controller): State<Arc<Controller>>,
    trail: Trail,
    Path(TokenAddress { name }): Path<TokenAddress>,
) -> Result<StatusCode, Problem> {
    let now = controller.rooms.now_ms().await? / 1000;
    trail.name_subject("token", &name);
    let note = |token: &ApiToken| trail.change(&Token::from(token).noted(), &Value::Null);
    controller.tokens.revoke(&name, now, note).await.map_err(token_problem)?;
    Ok(StatusCode::NO_CONTENT)
}
