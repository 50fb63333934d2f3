//! `POST /v1/keys/rotate`

use std::sync::Arc;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::{IntoParams, ToSchema};
use vestibule_issuance::{KeyError, problem_of};
use vestibule_runtime::{
    Problem, ProblemType,
    extract::{Json, Query},
};

use vestibule_token::KeyAlgorithm;

use crate::{
    audit::Trail,
    endpoints::responses::{BodyRefusals, InvalidRequest, Refusals, UnreadKey},
    key_time::key_time,
    state::Controller,
};

/// For how long a new key is only published, unless the request says otherwise: longer than the
/// gateways of `deploy/gateways` and most others keep a key set.
const PUBLISHED_FIRST: u64 = 5 * 60;
/// The longest that a new key can be published first.
const LONGEST: u64 = 7 * 24 * 60 * 60;

/// When the new key is to sign.
#[derive(Debug, Clone, Copy, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Succession {
    /// For how many seconds the new key is published before the first token is signed with it:
    /// longer than any gateway keeps a key set without looking again. 0 signs at once: for gateways
    /// that look again when they meet a key they do not know.
    #[param(default = 300, maximum = 604_800)]
    signs_in_seconds: Option<u64>,
}

/// When the new key is to sign, and whether clients are left behind.
#[derive(Debug, Clone, Copy, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Replacement {
    /// For how many seconds the new key is published before the first token is signed with it:
    /// longer than any gateway keeps a key set without looking again. 0 signs at once: for gateways
    /// that look again when they meet a key they do not know.
    #[param(default = 300, maximum = 604_800)]
    signs_in_seconds: Option<u64>,
    /// Replaces the key although a room has `aws_style_api`: its clients may keep the key that they have seen first, for
    /// ever, and refuse whoever has a token by another one.
    #[serde(default)]
    #[param(default = false)]
    force: bool,
}

/// What the new key is like. No body: as the deployment's keys are.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rotation {
    /// What it signs with; the controller's `VESTIBULE_SIGNING_ALGORITHM` if not given.
    algorithm: Option<KeyAlgorithm>,
}

/// The new key.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct NewKey {
    /// Its id, as in the `kid` of tokens and of the published keys.
    pub(crate) kid: String,
    /// From when tokens are signed with it, unix seconds.
    pub(crate) signs_from: u64,
}

/// Publishes a new key, and signs with it a while later.
///
/// So no gateway that verifies tokens by itself meets a key it does not know. The old keys are
/// published, and so verify, until their last token has expired. A key that was published earlier
/// and has not signed yet gives way to the new one. A new key may sign with another algorithm than the one before: which
/// one belongs to the key, and gateways read it in the key set. While a room has `aws_style_api` it is refused, unless
/// `force` says that its clients do not keep the key.
#[utoipa::path(
    post, path = "/v1/keys/rotate", tag = "keys", params(Replacement),
    request_body = Option<Rotation>,
    responses(
        (status = 200, description = "The new key", body = NewKey),
        InvalidRequest, UnreadKey, BodyRefusals, Refusals,
    )
)]
pub(crate) async fn rotate_keys(
    State(controller): State<Arc<Controller>>,
    trail: Trail,
    Query(Replacement { signs_in_seconds, force }): Query<Replacement>,
    rotation: Option<Json<Rotation>>,
) -> Result<Json<NewKey>, Problem> {
    let signs_in = Succession { signs_in_seconds }.seconds()?;
    controller.rooms.require_whole_keyspace().await?;
    if !force {
        refuse_with_aws_style_rooms(&controller).await?;
    }
    let now = key_time(&controller).await.map_err(|error| problem_of(&error))?;
    let signs_from = now + signs_in;
    let algorithm = rotation.and_then(|Json(rotation)| rotation.algorithm);
    // Which key it is, is known when it is made.
    trail.change(&Value::Null, &json!({ "algorithm": algorithm, "signs_from": signs_from }));
    let kid = controller.keys.announce(algorithm, now, signs_from).await.map_err(key_problem)?;
    trail.name_subject("key", &kid);
    trail.change(&Value::Null, &json!({ "kid": kid, "signs_from": signs_from }));
    tracing::info!(kid, signs_from, "published a new signing key");
    Ok(Json(NewKey { kid, signs_from }))
}

/// Clients of `/public_key` ask for the key once, and keep it.
async fn refuse_with_aws_style_rooms(controller: &Controller) -> Result<(), Problem> {
    let configs = controller.rooms.latest_configs().await.map_err(|error| problem_of(&error))?;
    let mut rooms = configs.iter().filter(|(_, config)| config.settings.aws_style_api);
    let Some((room, _)) = rooms.next() else { return Ok(()) };
    let others = match rooms.count() {
        0 => String::new(),
        others => format!(" and {others} more"),
    };
    let detail = format!(
        "the room `{room}`{others} has `aws_style_api`, and its clients may keep the key that they have seen first, for \
         ever: they would refuse everybody with a token by a new one. Nothing was changed. If they do not keep it, or are \
         restarted, say `?force=true`"
    );
    Err(Problem::new(ProblemType::Conflict).detail(detail))
}

/// The problem document for an error of the key ring.
pub(super) fn key_problem(error: KeyError) -> Problem {
    match error {
        KeyError::Store(error) => problem_of(&error),
        KeyError::Unread(_) => Problem::new(ProblemType::Conflict).detail(error.to_string()),
        KeyError::Missing => Problem::new(ProblemType::RedisUnavailable),
        other => Problem::internal(&other),
    }
}

// === impl Succession ===

impl Succession {
    /// For how many seconds a new key is only published.
    ///
    /// # Errors
    /// A 400 for more than a week.
    pub(super) fn seconds(self) -> Result<u64, Problem> {
        let seconds = self.signs_in_seconds.unwrap_or(PUBLISHED_FIRST);
        if seconds > LONGEST {
            let problem = Problem::new(ProblemType::InvalidRequest);
            return Err(problem.field("signs_in_seconds", "must be at most 604800, a week"));
        }
        Ok(seconds)
    }
}
