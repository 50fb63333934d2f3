//! `POST /v1/sigv4-keys`

use std::sync::Arc;

use axum::{extract::State, http::StatusCode};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use vestibule_domain::{
    access::{ApiSigner, Role, RoomScope},
    schedule::moment,
};
use vestibule_runtime::{Problem, ProblemType, extract::Json};
use vestibule_token::SigV4Key;

use super::create_token::{some_rooms, token_problem};
use crate::{
    access::Caller,
    audit::Trail,
    endpoints::responses::{BodyRefusals, InvalidRequest, Refusals, TakenToken},
    state::Controller,
    tokens::{check_name, check_secret},
};

/// The longest session token, in bytes: AWS's own have up to about 2,000.
const LONGEST_SESSION_TOKEN: usize = 4_096;

/// A key that is wanted.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SigV4KeyDraft {
    /// Its name, as in `Authorization: AWS4-HMAC-SHA256 Credential=…`, by which it is listed, revoked and noted in the
    /// audit log, too: 1 to 64 letters, digits, `_` and `-`. One is made up if it is left out.
    #[schema(
        min_length = 1,
        max_length = 64,
        pattern = "^[A-Za-z0-9_-]{1,64}$",
        example = "AKIAIOSFODNN7EXAMPLE"
    )]
    access_key_id: Option<String>,
    /// What requests are signed with: 16 to 256 printable characters. One is made up if it is left out.
    #[schema(value_type = Option<String>, min_length = 16, max_length = 256)]
    secret_access_key: Option<SecretString>,
    /// What must be sent with each request as `X-Amz-Security-Token`; left out: such a header is refused.
    #[schema(value_type = Option<String>, min_length = 1, max_length = 4_096)]
    session_token: Option<SecretString>,
    /// What it may do. The AWS-style calls need `viewer` to read, and `operator`.
    role: Role,
    /// In which rooms.
    #[serde(default, deserialize_with = "some_rooms")]
    #[schema(required = false)]
    rooms: RoomScope,
    /// When it ends, as unix seconds or RFC 3339; never if left out.
    #[serde(default, with = "moment::option")]
    #[schema(value_type = Option<String>, example = "2026-11-05T10:00:00Z")]
    expires_at: Option<u64>,
}

/// A key, without its secret.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct ListedSigV4Key {
    /// Its name.
    access_key_id: String,
    /// What it may do.
    role: Role,
    /// In which rooms.
    rooms: RoomScope,
    /// Whether a session token must be sent with it; null: this controller cannot use the key, because its
    /// `VESTIBULE_SECRET` is not the one under which it was sealed.
    session_token: Option<bool>,
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

/// A key that was made.
#[derive(Serialize, ToSchema)]
pub(crate) struct NewSigV4Key {
    #[serde(flatten)]
    about: ListedSigV4Key,
    /// What its holder signs with. It is told this once.
    secret_access_key: String,
}

/// Makes a key by which a program signs its requests, as clients of AWS do.
///
/// For the AWS-style calls alone; whatever else is called needs a token. Its secret is told in this answer and never
/// again. It is kept sealed under the deployment's secret, since a signature cannot be checked by a hash.
#[utoipa::path(
    post, path = "/v1/sigv4-keys", tag = "tokens", request_body = SigV4KeyDraft,
    responses(
        (status = 201, description = "The key", body = NewSigV4Key),
        BodyRefusals, InvalidRequest, TakenToken, Refusals,
    )
)]
pub(crate) async fn create_sigv4_key(
    State(controller): State<Arc<Controller>>,
    caller: Caller,
    trail: Trail,
    Json(draft): Json<SigV4KeyDraft>,
) -> Result<(StatusCode, Json<NewSigV4Key>), Problem> {
    draft.check()?;
    let now = controller.rooms.now_ms().await? / 1000;
    if draft.expires_at.is_some_and(|end| end <= now) {
        return Err(wrong("expires_at", "must be in the future"));
    }
    let SigV4KeyDraft { access_key_id, secret_access_key, session_token, role, rooms, expires_at } =
        draft;
    let tokens = &controller.tokens;
    let key_id = access_key_id.unwrap_or_else(|| made_up_id(&tokens.random_text()));
    let secret = secret_access_key.unwrap_or_else(|| tokens.random_text().into());
    let created_by = caller.name.as_ref().to_owned();
    let (created_at, sealed) = (now, String::new());
    let signer = ApiSigner { key_id, role, rooms, expires_at, created_at, created_by, sealed };
    let key = SigV4Key::new(secret.clone(), session_token);
    let about = ListedSigV4Key::new(&signer, Some(key.is_temporary()));
    trail.name_subject("sigv4 key", &signer.key_id);
    trail.change(&Value::Null, &about.noted());
    tokens.create_signer(&signer, &key).await.map_err(token_problem)?;
    let secret_access_key = secret.expose_secret().to_owned();
    Ok((StatusCode::CREATED, Json(NewSigV4Key { about, secret_access_key })))
}

/// In the form of AWS's own.
fn made_up_id(random: &str) -> String {
    format!("VSTB{}", random[..16].to_uppercase())
}

fn wrong(field: &'static str, reason: impl Into<String>) -> Problem {
    Problem::new(ProblemType::InvalidRequest).field(field, reason.into())
}

// === impl SigV4KeyDraft ===

impl SigV4KeyDraft {
    fn check(&self) -> Result<(), Problem> {
        if let Some(key_id) = &self.access_key_id {
            check_name(key_id).map_err(|reason| wrong("access_key_id", reason))?;
        }
        if let Some(secret) = &self.secret_access_key {
            check_secret(secret.expose_secret()).map_err(|why| wrong("secret_access_key", why))?;
        }
        let token = self.session_token.as_ref().map(ExposeSecret::expose_secret);
        let plain = |token: &str| token.bytes().all(|byte| byte.is_ascii_graphic());
        if token.is_some_and(|token| {
            !(1..=LONGEST_SESSION_TOKEN).contains(&token.len()) || !plain(token)
        }) {
            let reason = "a session token has 1 to 4096 printable ASCII characters, and no spaces";
            return Err(wrong("session_token", reason));
        }
        Ok(())
    }
}

// === impl ListedSigV4Key ===

impl ListedSigV4Key {
    /// A key that was made by a call; `session_token`: whether one belongs to it.
    pub(super) fn new(signer: &ApiSigner, session_token: Option<bool>) -> Self {
        Self {
            access_key_id: signer.key_id.clone(),
            role: signer.role,
            rooms: signer.rooms.clone(),
            session_token,
            expires_at: signer.expires_at,
            created_at: Some(signer.created_at),
            created_by: Some(signer.created_by.clone()),
        }
    }

    /// As the audit log has it.
    pub(super) fn noted(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

/// Of an option.
impl From<&Caller> for ListedSigV4Key {
    fn from(caller: &Caller) -> Self {
        Self {
            access_key_id: caller.name.as_ref().to_owned(),
            role: caller.role,
            rooms: caller.rooms.as_ref().clone(),
            session_token: Some(false),
            expires_at: None,
            created_at: None,
            created_by: None,
        }
    }
}
