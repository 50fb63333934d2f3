//! `POST /increment_serving_counter`

use std::sync::Arc;

use axum::{Json, extract::State, http::StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;
use vestibule_domain::RoomId;
use vestibule_issuance::aws::{AwsBadRequest, AwsError, MessageBody};
use vestibule_runtime::extract::{IdempotencyKey, NoName};
use vestibule_store::Moved;

use super::certainty::Attempts;
use crate::{
    access::Caller,
    audit::Trail,
    endpoints::responses::{AwsBodyRefusals, AwsRefusals},
    extractors::{AwsBody, WholeNumber},
    rooms::RoomError,
    state::Controller,
};

/// The furthest, either way: numbers beyond are not exact in clients' JSON, nor in Redis.
const FURTHEST: i64 = (1 << 53) - 1;

/// By how much, and where.
#[derive(Debug, Clone, Deserialize, ToSchema)]
pub(crate) struct Increment {
    /// The event: a room's name, or its `aws_event_id`.
    event_id: String,
    /// Forwards, or back if negative; by no more than 9007199254740991, which is 2^53 - 1.
    #[schema(value_type = i64)]
    increment_by: WholeNumber,
}

/// Where the counter stands.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct ServingNum {
    /// The serving counter, after the increment.
    pub(crate) serving_num: i64,
}

/// Moves the serving counter.
///
/// Each call moves it again, unless it has a name by which it came before.
#[utoipa::path(
    post, path = "/increment_serving_counter", tag = "aws-style", request_body = Increment,
    params(IdempotencyKey),
    responses(
        (status = 200, description = "Where it stands", body = ServingNum),
        (status = 409, description = "Another call has this `Idempotency-Key`; or, without one, it is not known whether \
            the counter was moved", body = MessageBody),
        AwsBadRequest, AwsBodyRefusals, AwsRefusals,
    )
)]
pub(crate) async fn increment_serving_counter(
    State(controller): State<Arc<Controller>>,
    caller: Caller,
    trail: Trail,
    key: Result<IdempotencyKey, NoName>,
    AwsBody(body): AwsBody<Increment>,
) -> Result<Json<ServingNum>, AwsError> {
    let (key, by) = (key?, body.by()?);
    let room = controller.rooms.event(&caller, &body.event_id).await?.snapshot().room.clone();
    trail.name_room(room.as_str());
    trail.change(&Value::Null, &json!({ "increment_by": by }));
    let moved = match &key.name {
        // Its client sends the same name again.
        Some(name) => increment(&controller, &room, name, by).await?,
        None => increment_for_certain(&controller, &trail, &room, by).await?,
    };
    let taken = || AwsError::Message(StatusCode::CONFLICT, IdempotencyKey::TAKEN.into());
    let moved = moved.ok_or_else(taken)?;
    let counter = |counter: i64| json!({ "serving_counter": counter });
    let from = moved.from.unwrap_or_else(|| moved.to.saturating_sub(by));
    trail.change(&counter(from), &counter(moved.to));
    if moved.again {
        trail.repeats();
    }
    Ok(Json(ServingNum { serving_num: moved.to }))
}

// === impl Increment ===

impl Increment {
    fn by(&self) -> Result<i64, AwsError> {
        let WholeNumber(by) = self.increment_by;
        let refused = || {
            let message = format!("increment_by must be from -{FURTHEST} to {FURTHEST}");
            AwsError::Message(StatusCode::BAD_REQUEST, message)
        };
        (-FURTHEST..=FURTHEST).contains(&by).then_some(by).ok_or_else(refused)
    }
}

/// Moves the counter. `None`: by another number under this name.
async fn increment(
    controller: &Controller,
    room: &RoomId,
    name: &str,
    by: i64,
) -> Result<Option<Moved>, RoomError> {
    match controller.store.increment_once(room, name, by).await {
        Ok(moved) => Ok(moved),
        Err(error) => Err(controller.rooms.explain(room, error).await),
    }
}

async fn increment_for_certain(
    controller: &Controller,
    trail: &Trail,
    room: &RoomId,
    by: i64,
) -> Result<Option<Moved>, AwsError> {
    // If Redis is away, nothing has been done yet, and may be tried again.
    controller.rooms.read(room).await?;
    let (name, mut attempts) = (controller.store.call_name(), Attempts::begin(trail));
    loop {
        let done = increment(controller, room, &name, by).await;
        if let Some(known) = attempts.judge(done).await {
            return known;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_exact_is_refused_with_the_bound() {
        let by = |by| Increment { event_id: "sale".into(), increment_by: WholeNumber(by) }.by();
        for known in [0, 1, -5, FURTHEST, -FURTHEST] {
            assert_eq!(by(known).unwrap(), known);
        }
        for beyond in [FURTHEST + 1, -FURTHEST - 1, i64::MAX, i64::MIN] {
            let AwsError::Message(status, message) = by(beyond).unwrap_err() else { panic!() };
            assert_eq!(status, StatusCode::BAD_REQUEST);
            assert!(message.contains("from -9007199254740991 to 9007199254740991"), "{message}");
        }
    }
}
