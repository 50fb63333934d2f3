//! `POST /oidc/{room}/token`: a site exchanges the code that its visitor has brought.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    http::{
        HeaderMap,
        header::{AUTHORIZATION, CACHE_CONTROL, PRAGMA},
    },
    response::{IntoResponse, Response},
};
use serde::Serialize;
use utoipa::ToSchema;
use vestibule_runtime::{
    extract::{Form, Path},
    problem::Problem,
};

use super::provider::{issuer, provider};
use crate::{
    endpoints::responses::ProviderRefusals,
    extractors::RoomPath,
    flows::{LoginTokens, RoomContext},
    oidc::{OAuthError, TokenError, TokenRequest},
    state::Admission,
};

/// What a code is exchanged for.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TokenResponse {
    /// The visitor's access token, as it has it itself: it opens gateways that verify tokens, and `userInfo`.
    access_token: String,
    /// `Bearer`.
    #[schema(example = "Bearer")]
    token_type: &'static str,
    /// Seconds until both tokens expire.
    expires_in: u64,
    /// For the site alone: that somebody has waited and is inside.
    id_token: String,
    /// `openid`.
    #[schema(example = "openid")]
    scope: &'static str,
}

/// Exchange a code
///
/// A form, and the client's id and secret in it (`client_secret_post`) or in `Authorization` (`client_secret_basic`); a
/// public client sends `client_id` and `code_verifier`. A code is good once and for a minute. Whoever has one is inside
/// already, so nobody has to wait here. A code that comes again is refused and ends nobody's session.
#[utoipa::path(
    post, path = "/oidc/{room}/token", operation_id = "exchange_code", tag = "openid-connect",
    params(
        RoomPath,
        ("Authorization" = Option<String>, Header, description = "`Basic`, with the client's id and secret"),
    ),
    request_body(content = String, content_type = "application/x-www-form-urlencoded", description = "`grant_type=authorization_code`, `code`, `redirect_uri`, and where they apply `client_id`, `client_secret`, `code_verifier`"),
    responses(
        (status = 200, description = "The tokens", body = TokenResponse),
        (status = 400, description = "`invalid_request`, `invalid_grant` or `unsupported_grant_type`; a problem if the name is not a room's", content(
            (OAuthError = "application/json"), (Problem = "application/problem+json"),
        )),
        (status = 401, description = "`invalid_client`", body = OAuthError),
        (status = 408, description = "The body does not arrive within 10 seconds", body = Problem, content_type = "application/problem+json"),
        (status = 413, description = "The body is longer than 64 KiB", body = Problem, content_type = "application/problem+json"),
        ProviderRefusals,
    )
)]
pub(crate) async fn exchange_code(
    State(admission): State<Arc<Admission>>,
    Path(RoomPath { room }): Path<RoomPath>,
    headers: HeaderMap,
    form: Result<Form, Problem>,
) -> Result<Response, Problem> {
    let room = provider(&admission.flows, room.as_str()).await?;
    let form = match form {
        Ok(Form(form)) => form,
        Err(problem) => return Ok(TokenError::of_body(problem)?.into_response()),
    };
    Ok(match exchange(&admission, room, &headers, &form).await? {
        Ok(tokens) => answer(tokens),
        Err(error) => error.into_response(),
    })
}

async fn exchange(
    admission: &Admission,
    mut room: RoomContext,
    headers: &HeaderMap,
    form: &str,
) -> Result<Result<LoginTokens, TokenError>, Problem> {
    let (flows, binding) = (&admission.flows, room.binding.clone());
    let request = match TokenRequest::read(headers.get(AUTHORIZATION), form, &binding) {
        Ok(request) => request,
        Err(error) => return Ok(Err(error)),
    };
    let code = request.code.as_str();
    let Ok(grant) = flows.open(&mut room, |ciphers| ciphers.codes.open(code)).await? else {
        return Ok(Err(TokenError::InvalidGrant("the code is not valid")));
    };
    if let Err(error) = request.check(&grant) {
        return Ok(Err(error));
    }
    let issuer = issuer(flows, &room);
    let tokens = flows.exchange(&room, code, &grant, issuer).await?;
    let over = "the code was used before or has expired, or the visitor's session is over";
    Ok(tokens.ok_or(TokenError::InvalidGrant(over)))
}

fn answer(tokens: LoginTokens) -> Response {
    let LoginTokens { access_token, id_token, expires_in } = tokens;
    let (token_type, scope) = ("Bearer", "openid");
    let body = TokenResponse { access_token, token_type, expires_in, id_token, scope };
    ([(CACHE_CONTROL, "no-store"), (PRAGMA, "no-cache")], Json(body)).into_response()
}
