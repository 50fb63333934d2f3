//! `GET /oidc/{room}/userInfo`: what an access token says, to whoever holds it.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    http::{
        HeaderMap, HeaderValue, StatusCode,
        header::{CACHE_CONTROL, WWW_AUTHENTICATE},
    },
    response::{IntoResponse, Response},
};
use serde::Serialize;
use utoipa::ToSchema;
use vestibule_issuance::RoomCiphers;
use vestibule_runtime::{
    extract::{Path, bearer},
    problem::Problem,
};
use vestibule_token::{Claims, TokenUse};

use super::provider::provider;
use crate::{
    endpoints::responses::ProviderRefusals, extractors::RoomPath, flows::RoomContext,
    state::Admission,
};

/// What is known of a visitor: how long it is inside, and nothing of who it is.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct UserInfo {
    /// The visitor's request id, as in the id token.
    sub: String,
    /// Its queue number.
    queue_position: u64,
    /// The room.
    aud: String,
    /// Who has issued the access token.
    iss: String,
    /// When, unix seconds.
    iat: u64,
    /// From when it is valid, unix seconds.
    nbf: u64,
    /// When it expires, unix seconds.
    exp: u64,
    /// `access`.
    #[schema(value_type = String, example = "access")]
    token_use: TokenUse,
}

/// What an access token says
///
/// `Authorization: Bearer …`, with a token that opens this room and whose session was not ended early. The claims are the
/// token's own; none of them says who somebody is.
#[utoipa::path(
    get, path = "/oidc/{room}/userInfo", operation_id = "get_user_info", tag = "openid-connect",
    params(RoomPath, ("Authorization" = String, Header, description = "`Bearer` and the access token")),
    responses(
        (status = 200, description = "The claims", body = UserInfo),
        (status = 400, description = "The name is not a room's", body = Problem, content_type = "application/problem+json"),
        (status = 401, description = "There is no token, or it opens this room no more; see WWW-Authenticate"),
        ProviderRefusals,
    )
)]
pub(crate) async fn get_user_info(
    State(admission): State<Arc<Admission>>,
    Path(RoomPath { room }): Path<RoomPath>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let room = provider(&admission.flows, room.as_str()).await?;
    let Some(token) = bearer(&headers) else { return Ok(unauthorized("Bearer")) };
    let claims = claims(&admission, room, token).await?;
    Ok(claims.map_or_else(
        || unauthorized(r#"Bearer error="invalid_token""#),
        |claims| ([(CACHE_CONTROL, "no-store")], Json(UserInfo::from(claims))).into_response(),
    ))
}

/// The same, for clients that ask by `POST`
#[utoipa::path(
    post, path = "/oidc/{room}/userInfo", operation_id = "post_user_info", tag = "openid-connect",
    params(RoomPath, ("Authorization" = String, Header, description = "`Bearer` and the access token")),
    responses(
        (status = 200, description = "The claims", body = UserInfo),
        (status = 400, description = "The name is not a room's", body = Problem, content_type = "application/problem+json"),
        (status = 401, description = "There is no token, or it opens this room no more; see WWW-Authenticate"),
        ProviderRefusals,
    )
)]
pub(crate) async fn post_user_info(
    state: State<Arc<Admission>>,
    path: Path<RoomPath>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    get_user_info(state, path, headers).await
}

/// What `token` says; `None`: it does not open the room, or no more. One that is bound to a key is worth nothing without
/// a proof, which no client of OpenID Connect can give for its visitor.
async fn claims(
    admission: &Admission,
    mut room: RoomContext,
    token: &str,
) -> Result<Option<Claims>, Problem> {
    let flows = &admission.flows;
    let Ok(claims) = flows.claims_of(&room, token).await? else { return Ok(None) };
    if claims.cnf.is_some() {
        return Ok(None);
    }
    let open = |ciphers: &RoomCiphers| ciphers.request_ids.open(&claims.sub);
    let place = flows.open(&mut room, open).await?;
    // Let in while Redis was away, it has no place that could have been ended.
    let is_there = place.is_ok_and(|place| place.number == claims.queue_position);
    let is_over = room.known.has_ended(room.ciphers.reset_epoch, claims.queue_position);
    Ok((is_there && !is_over).then_some(claims))
}

fn unauthorized(scheme: &'static str) -> Response {
    let mut response = (StatusCode::UNAUTHORIZED, [(CACHE_CONTROL, "no-store")]).into_response();
    response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static(scheme));
    response
}

// === impl UserInfo ===

impl From<Claims> for UserInfo {
    fn from(claims: Claims) -> Self {
        let Claims { aud, cnf: _, exp, iat, iss, nbf, queue_position, sub, token_use } = claims;
        Self { sub, queue_position, aud, iss, iat, nbf, exp, token_use }
    }
}
