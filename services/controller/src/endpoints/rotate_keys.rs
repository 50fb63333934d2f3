//! `POST /v1/keys/rotate`

use std::sync::Arc;

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;
use vestibule_domain::{RoomSnapshot, settings::MAX_SECONDS};
use vestibule_entry::{KeyError, problem_of};
use vestibule_runtime::{Problem, ProblemType, extract::Json};

use crate::{openapi::Refusals, state::Controller};

/// Services may sign with the old key for so long after the rotation, in seconds.
const SETTLES: u64 = 60;

/// The new key.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct NewKey {
    /// Its id, as in the `kid` of tokens and of the published keys.
    pub kid: String,
}

/// Signs with a new key from now on.
///
/// The old keys are published until their last token has expired.
#[utoipa::path(
    post, path = "/v1/keys/rotate", tag = "keys",
    responses((status = 200, description = "The new key", body = NewKey), Refusals)
)]
pub(crate) async fn rotate_keys(
    State(controller): State<Arc<Controller>>,
) -> Result<Json<NewKey>, Problem> {
    controller.require_whole_keyspace().await?;
    let now = controller.store.now_ms().await.map_err(|error| problem_of(&error))? / 1000;
    let rooms = controller.feed.rooms();
    let longest = rooms.iter().map(|room| longest_validity(&room.snapshot(), now)).max();
    let retire_in = longest.unwrap_or(0).min(MAX_SECONDS) + SETTLES;
    let kid = controller.keys.rotate(now, retire_in).await.map_err(problem)?;
    tracing::info!(kid, "rotated the signing key");
    Ok(Json(NewKey { kid }))
}

/// How long a token of this room may still be valid: as its settings say, or as its longest-lived
/// AWS-style token does, whose validity its caller chose.
fn longest_validity(room: &RoomSnapshot, now: u64) -> u64 {
    room.settings.longest_validity_seconds().max(room.tokens_until.saturating_sub(now))
}

fn problem(error: KeyError) -> Problem {
    match error {
        KeyError::Store(error) => problem_of(&error),
        KeyError::Missing => Problem::new(ProblemType::RedisUnavailable),
        other => Problem::internal(&other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_with_a_validity_of_its_own_keeps_its_key_published() {
        let room: RoomSnapshot = serde_json::from_str(
            r#"{"room":"r","settings":{"token_validity_seconds":100,"session_duration_seconds":50},
            "reset_epoch":7,"generation":1,"now_ms":1,"queue_counter":0,"serving_counter":0,
            "admitted":0,"active":0,"phantom":0,"expired":0,"skipped":0,"expired_position":0,
            "admitted_last_minute":0,"tokens_until":5000,"figures":{}}"#,
        )
        .unwrap();
        assert_eq!(longest_validity(&room, 1_000), 4_000);
        assert_eq!(longest_validity(&room, 4_950), 100);
        assert_eq!(longest_validity(&room, 9_000), 100);
    }
}
