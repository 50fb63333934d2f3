//! `POST /v1/keys/import`

use std::sync::Arc;

use axum::extract::State;
use serde_json::{Value, json};
use vestibule_issuance::{KeyError, problem_of};
use vestibule_runtime::{
    Problem, ProblemType,
    extract::{Json, Query},
};
use vestibule_token::{PrivateJwk, SigningKeyError};

use super::rotate_keys::{NewKey, Succession, key_problem};
use crate::{
    audit::Trail,
    endpoints::responses::{BodyRefusals, InvalidRequest, KnownKey, Refusals},
    key_time::key_time,
    state::Controller,
};

/// Publishes a key that was made elsewhere, and signs with it a while later.
///
/// For a move from another product: tokens verify as before at gateways that keep its key. Everything else is as with a
/// new key. The private key is sealed under the deployment's secret and never shown again. One that says that it is for
/// something else (`alg`, `use`, `key_ops`) is refused.
#[utoipa::path(
    post, path = "/v1/keys/import", tag = "keys", params(Succession), request_body = PrivateJwk,
    responses(
        (status = 200, description = "The key", body = NewKey),
        InvalidRequest, KnownKey, BodyRefusals, Refusals,
    )
)]
pub(crate) async fn import_key(
    State(controller): State<Arc<Controller>>,
    trail: Trail,
    Query(succession): Query<Succession>,
    Json(key): Json<PrivateJwk>,
) -> Result<Json<NewKey>, Problem> {
    let signs_in = succession.seconds()?;
    key.check_purpose().map_err(|wrong| invalid().field(wrong.member, wrong.reason))?;
    controller.rooms.require_whole_keyspace().await?;
    let now = key_time(&controller).await.map_err(|error| problem_of(&error))?;
    let (kid, signs_from) = (key.kid().to_owned(), now + signs_in);
    trail.name_subject("key", &kid);
    trail.change(&Value::Null, &json!({ "kid": kid, "signs_from": signs_from }));
    if !controller.keys.import(key, now, signs_from).await.map_err(problem)? {
        let problem = Problem::new(ProblemType::Conflict);
        return Err(problem.detail("a key of this `kid` is known already, or was withdrawn"));
    }
    tracing::info!(kid, signs_from, "published an imported signing key");
    Ok(Json(NewKey { kid, signs_from }))
}

fn problem(error: KeyError) -> Problem {
    match error {
        KeyError::Key(error @ SigningKeyError::Name) => invalid().field("kid", error.to_string()),
        KeyError::Key(error @ SigningKeyError::Unsupported) => invalid().detail(error.to_string()),
        other => key_problem(other),
    }
}

fn invalid() -> Problem {
    Problem::new(ProblemType::InvalidRequest)
}
