//! `POST /increment_serving_counter`

use std::sync::Arc;

use axum::{Json, extract::State, http::StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;
use vestibule_domain::RoomId;
use vestibule_issuance::aws::{AwsBadRequest, AwsError, MessageBody};
use vestibule_runtime::extract::{IdempotencyKey, NoName};

use super::certainty::Attempts;
use crate::{
    access::Caller,
    audit::Trail,
    endpoints::responses::{AwsBodyRefusals, AwsRefusals},
    extractors::{AwsBody, WholeNumber},
    rooms::RoomError,
    state::Controller,
};

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
    let stands = match &key.name {
        // Its client sends the same name again.
        Some(name) => increment(&controller, &room, name, by).await?,
        None => increment_for_certain(&controller, &trail, &room, by).await?,
    };
    let taken = || AwsError::Message(StatusCode::CONFLICT, IdempotencyKey::TAKEN.into());
    let serving_num = stands.ok_or_else(taken)?;
    let counter = |counter: i64| json!({ "serving_counter": counter });
    trail.change(&counter(serving_num.saturating_sub(by)), &counter(serving_num));
    Ok(Json(ServingNum { serving_num }))
}

/// Moves the counter. `None`: by another number under this name.
async fn increment(
    controller: &Controller,
    room: &RoomId,
    name: &str,
    by: i64,
) -> Result<Option<i64>, RoomError> {
    match controller.store.increment_once(room, name, by).await {
        Ok(stands) => Ok(stands),
        Err(error) => Err(controller.rooms.explain(room, error).await),
    }
}

async fn increment_for_certain(
    controller: &Controller,
    trail: &Trail,
    room: &RoomId,
    by: i64,
) -> Result<Option<i64>, AwsError> {
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
