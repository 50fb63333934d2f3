//! `POST /v1/tokens`

use std::sync::Arc;

use axum::{extract::State, http::StatusCode};
use secrecy::ExposeSecret;
use serde::{Deserialize, Deserializer, Serialize, de::Error};
use serde_json::Value;
use utoipa::ToSchema;
use vestibule_domain::{
    access::{ApiToken, Role, RoomScope},
    schedule::moment,
};
use vestibule_issuance::problem_of;
use vestibule_runtime::{Problem, ProblemType, extract::Json};

use crate::{
    access::Caller,
    audit::Trail,
    endpoints::responses::{BodyRefusals, InvalidRequest, Refusals, TakenToken},
    state::Controller,
    tokens::{TokenError, check_name},
};

/// A token that is wanted.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TokenDraft {
    /// Its name, by which it is listed, revoked and noted in the audit log: 1 to 64 letters, digits, `_` and `-`.
    #[schema(min_length = 1, max_length = 64, pattern = "^[A-Za-z0-9_-]{1,64}$", example = "ci")]
    name: String,
    /// What it may do.
    role: Role,
    /// In which rooms. A token for some rooms cannot touch what is of the deployment.
    #[serde(default, deserialize_with = "some_rooms")]
    #[schema(required = false)]
    rooms: RoomScope,
    /// When it ends, as unix seconds or RFC 3339; never if left out.
    #[serde(default, with = "moment::option")]
    #[schema(value_type = Option<String>, example = "2026-11-05T10:00:00Z")]
    expires_at: Option<u64>,
}

/// Rooms that are said: none at all is a mistake, such as a list of a program's that came out empty, and would be all.
pub(super) fn some_rooms<'de, D: Deserializer<'de>>(from: D) -> Result<RoomScope, D::Error> {
    let rooms = RoomScope::deserialize(from)?;
    if rooms.is_whole() {
        return Err(D::Error::custom("names no room: leave it out for all rooms"));
    }
    Ok(rooms)
}

/// A token, without what is shown.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct Token {
    /// Its name.
    name: String,
    /// What it may do.
    role: Role,
    /// In which rooms.
    rooms: RoomScope,
    /// When it ends; null: never.
    #[serde(with = "moment::option")]
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_at: Option<u64>,
    /// When it was made; null: an option gives it.
    #[serde(with = "moment::option")]
    #[schema(value_type = Option<String>, format = DateTime)]
    created_at: Option<u64>,
    /// The token by which it was made; null: an option gives it.
    created_by: Option<String>,
}

/// A token that was made.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct NewToken {
    #[serde(flatten)]
    about: Token,
    /// What the caller shows as `Authorization: Bearer …`. It is told this once.
    #[schema(example = "vst_…")]
    token: String,
}

/// Makes a token for somebody else, or for a program.
///
/// It is told in this answer and never again: only its hash is kept. It begins with `vst_`, so that programs that look
/// for secrets know it.
#[utoipa::path(
    post, path = "/v1/tokens", tag = "tokens", request_body = TokenDraft,
    responses(
        (status = 201, description = "The token", body = NewToken),
        BodyRefusals, InvalidRequest, TakenToken, Refusals,
    )
)]
pub(crate) async fn create_token(
    State(controller): State<Arc<Controller>>,
    caller: Caller,
    trail: Trail,
    Json(draft): Json<TokenDraft>,
) -> Result<(StatusCode, Json<NewToken>), Problem> {
    let invalid = || Problem::new(ProblemType::InvalidRequest);
    check_name(&draft.name).map_err(|reason| invalid().field("name", reason))?;
    let now = controller.rooms.now_ms().await? / 1000;
    if draft.expires_at.is_some_and(|end| end <= now) {
        return Err(invalid().field("expires_at", "must be in the future"));
    }
    let TokenDraft { name, role, rooms, expires_at } = draft;
    let created_by = caller.name.as_ref().to_owned();
    let made = ApiToken { name, role, rooms, expires_at, created_at: now, created_by };
    let about = Token::from(&made);
    trail.name_subject("token", &made.name);
    trail.change(&Value::Null, &about.noted());
    let token = controller.tokens.create(&made).await.map_err(token_problem)?;
    let token = token.expose_secret().to_owned();
    Ok((StatusCode::CREATED, Json(NewToken { about, token })))
}

/// The problem document for an error of tokens.
pub(super) fn token_problem(error: TokenError) -> Problem {
    let conflict = || Problem::new(ProblemType::Conflict);
    match error {
        TokenError::Store(error) => problem_of(&error),
        TokenError::Unknown => Problem::new(ProblemType::TokenNotFound),
        TokenError::Take(_) | TokenError::Given | TokenError::Busy => {
            conflict().detail(error.to_string())
        }
        TokenError::Text(_) | TokenError::Sealing(_) => Problem::internal(&error),
    }
}

// === impl Token ===

impl Token {
    /// As the audit log has it.
    pub(super) fn noted(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

impl From<&ApiToken> for Token {
    fn from(token: &ApiToken) -> Self {
        Self {
            name: token.name.clone(),
            role: token.role,
            rooms: token.rooms.clone(),
            expires_at: token.expires_at,
            created_at: Some(token.created_at),
            created_by: Some(token.created_by.clone()),
        }
    }
}

impl From<&Caller> for Token {
    fn from(caller: &Caller) -> Self {
        Self {
            name: caller.name.as_ref().to_owned(),
            role: caller.role,
            rooms: caller.rooms.as_ref().clone(),
            expires_at: None,
            created_at: None,
            created_by: None,
        }
    }
}
