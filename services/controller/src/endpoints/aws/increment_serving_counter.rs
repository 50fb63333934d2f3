//! `POST /increment_serving_counter`. Its clients send again, up to ten times, whatever is answered by 5xx or 429, so
//! once the counter may have been moved neither is answered any more.

use std::{sync::Arc, time::Duration};

use axum::{Json, extract::State, http::StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};
use utoipa::ToSchema;
use vestibule_domain::RoomId;
use vestibule_issuance::aws::{AwsBadRequest, AwsError, MessageBody};
use vestibule_runtime::extract::{IdempotencyKey, NoName};
use vestibule_store::StoreError;

use crate::{
    access::Caller,
    audit::Trail,
    endpoints::responses::{AwsBodyRefusals, AwsRefusals},
    extractors::{AwsBody, WholeNumber},
    state::Controller,
};

/// For how long it is tried to learn whether the counter was moved. Its clients wait for longer.
const LEARN_FOR: Duration = Duration::from_secs(5);
const AGAIN: Duration = Duration::from_millis(200);

const UNKNOWN: &str = "Redis does not answer, so it is not known whether the counter was moved. Look at serving_num \
    before you send this again.";

/// By how much, and where.
#[derive(Debug, Clone, Deserialize, ToSchema)]
pub(crate) struct Increment {
    /// The event: a room's name, or its `aws_event_id`.
    event_id: String,
    /// Forwards, or back if negative.
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
    let key = key?;
    let room = controller.rooms.event(&caller, &body.event_id).await?.snapshot().room.clone();
    let by = body.increment_by.0;
    trail.name_room(room.as_str());
    trail.change(&Value::Null, &json!({ "increment_by": by }));
    let stands = if let Some(name) = &key.name {
        controller.store.increment_once(&room, name, by).await
    } else {
        // If Redis is away, nothing has been done yet, and may be tried again.
        controller.rooms.read(&room).await?;
        increment(&controller, &room, by).await?
    };
    match stands {
        Ok(Some(serving_num)) => {
            let counter = |counter: i64| json!({ "serving_counter": counter });
            trail.change(&counter(serving_num.saturating_sub(by)), &counter(serving_num));
            Ok(Json(ServingNum { serving_num }))
        }
        Ok(None) => Err(AwsError::Message(StatusCode::CONFLICT, IdempotencyKey::TAKEN.into())),
        Err(error) => Err(controller.rooms.explain(&room, error).await.into()),
    }
}

/// Moves the counter under a name of its own, until it is known whether that was done. What is certain to have failed is
/// the inner error.
async fn increment(
    controller: &Controller,
    room: &RoomId,
    by: i64,
) -> Result<Result<Option<i64>, StoreError>, AwsError> {
    let name = controller.store.call_name();
    let begun = Instant::now();
    loop {
        let done = controller.store.increment_once(room, &name, by).await;
        let is_unknown = matches!(done, Err(StoreError::Unavailable(_) | StoreError::Rewound));
        if !is_unknown {
            return Ok(done);
        }
        if begun.elapsed() >= LEARN_FOR {
            return Err(AwsError::Message(StatusCode::CONFLICT, UNKNOWN.to_owned()));
        }
        sleep(AGAIN).await;
    }
}
