//! `DELETE /v1/keys/{kid}`

use std::sync::Arc;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::{IntoParams, ToSchema};
use vestibule_issuance::problem_of;
use vestibule_runtime::{
    Problem, ProblemType,
    extract::{Json, Path},
};

use super::rotate_keys::key_problem;
use crate::{
    audit::Trail,
    endpoints::responses::{NoSuchKey, Refusals},
    key_time::key_time,
    state::Controller,
};

/// Which key.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct KeyAddress {
    /// Its id, as in the `kid` of tokens and of the published keys.
    kid: String,
}

/// The key that signs.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct CurrentKey {
    /// Its id.
    pub(crate) kid: String,
}

/// Withdraws a signing key, because somebody else may know it.
///
/// Within about a second no service signs or verifies by it, and it is no longer published. If it is the one that signs,
/// a new one does so at once. Whoever is inside stays inside, and gets a token by another key with the next call. A
/// gateway that verifies by itself takes tokens of the withdrawn key until it fetches the keys anew.
#[utoipa::path(
    delete, path = "/v1/keys/{kid}", tag = "keys", params(KeyAddress),
    responses(
        (status = 200, description = "Withdrawn: this key signs from now on", body = CurrentKey),
        NoSuchKey, Refusals,
    )
)]
pub(crate) async fn withdraw_key(
    State(controller): State<Arc<Controller>>,
    trail: Trail,
    Path(KeyAddress { kid }): Path<KeyAddress>,
) -> Result<Json<CurrentKey>, Problem> {
    controller.rooms.require_whole_keyspace().await?;
    let now = key_time(&controller).await.map_err(|error| problem_of(&error))?;
    let longest = controller.validities.note(&controller.feed, now);
    trail.name_subject("key", &kid);
    trail.change(&json!({ "kid": kid }), &Value::Null);
    if !controller.keys.withdraw(&kid, now, longest).await.map_err(key_problem)? {
        return Err(Problem::new(ProblemType::KeyNotFound));
    }
    let current = controller.keys.current().map_err(key_problem)?.kid().to_owned();
    trail.change(&json!({ "kid": kid }), &json!({ "kid": current }));
    tracing::warn!(kid, current, "a signing key was withdrawn");
    Ok(Json(CurrentKey { kid: current }))
}
