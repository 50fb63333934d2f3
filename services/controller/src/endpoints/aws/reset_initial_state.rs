//! `POST /reset_initial_state`

use std::sync::Arc;

use axum::{Json, extract::State};
use serde::Deserialize;
use utoipa::ToSchema;
use vestibule_issuance::aws::{AwsError, AwsMalformed, MessageBody};
use vestibule_runtime::extract::{IdempotencyKey, NoName};

use super::certainty::Attempts;
use crate::{
    access::Caller,
    audit::Trail,
    endpoints::responses::{AwsBodyRefusals, AwsRefusals},
    extractors::AwsBody,
    state::Controller,
};

/// What the original answers. Here it takes neither minutes nor a database.
const ACCEPTED: &str = "It may take a minute or two to reset counters and recreate the database. Verify that token \
    table is available and active in DynamoDB before using the waiting room.";

/// Which event.
#[derive(Debug, Clone, Deserialize, ToSchema)]
pub(crate) struct Reset {
    /// The event: a room's name, or its `aws_event_id`.
    event_id: String,
}

/// Starts an event afresh, at once.
///
/// Numbers begin at 1, and every earlier request id and session is void. Clients expect the same
/// answer, that of the original, for an event that does not exist.
#[utoipa::path(
    post, path = "/reset_initial_state", tag = "aws-style", request_body = Reset,
    params(IdempotencyKey),
    responses(
        (status = 200, description = "Accepted", body = MessageBody),
        (status = 409, description = "Without an `Idempotency-Key`: it is not known whether it was done", body = MessageBody),
        AwsMalformed, AwsBodyRefusals, AwsRefusals,
    )
)]
pub(crate) async fn reset_initial_state(
    State(controller): State<Arc<Controller>>,
    caller: Caller,
    trail: Trail,
    key: Result<IdempotencyKey, NoName>,
    AwsBody(body): AwsBody<Reset>,
) -> Result<Json<MessageBody>, AwsError> {
    match reset(&controller, &caller, &trail, &body.event_id, &key?).await {
        // What the original says of an event that does not exist, too.
        Ok(()) | Err(AwsError::InvalidEvent) => {
            Ok(Json(MessageBody { message: ACCEPTED.to_owned() }))
        }
        Err(error) => Err(error),
    }
}

async fn reset(
    controller: &Controller,
    caller: &Caller,
    trail: &Trail,
    event_id: &str,
    key: &IdempotencyKey,
) -> Result<(), AwsError> {
    let rooms = &controller.rooms;
    let room = rooms.event(caller, event_id).await?.snapshot().room.clone();
    trail.name_room(room.as_str());
    // If Redis is away, nothing has been done yet, and may be tried again. What the first attempt destroys, the next does not
    // see.
    let before = rooms.read(&room).await?;
    if let Some(name) = &key.name {
        return Ok(rooms.reset(trail, &before, name).await?);
    }
    let (name, mut attempts) = (controller.store.call_name(), Attempts::begin(trail));
    loop {
        let done = rooms.reset(trail, &before, &name).await;
        if let Some(known) = attempts.judge(done).await {
            return known;
        }
    }
}
