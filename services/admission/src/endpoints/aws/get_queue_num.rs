//! `GET /queue_num`: the number behind a request id. It is in the id itself.

use std::sync::Arc;

use axum::{
    Json,
    extract::{RawQuery, State},
    http::{Method, header::CACHE_CONTROL},
    response::{IntoResponse, Response},
};
use serde::Serialize;
use utoipa::ToSchema;
use vestibule_issuance::aws::{AwsBadRequest, AwsError, ErrorBody};
use vestibule_token::RequestIdError;

use super::event::{EventQuery, RequestQuery, event, place, required};
use crate::{endpoints::responses::Busy, state::Admission};

/// A visitor's number.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct QueueNum {
    /// In order of arrival, from 1 on; for someone who came in a pre-queue with a draw, the place
    /// drawn.
    pub(crate) queue_number: u64,
    /// When the visitor joined, unix seconds.
    pub(crate) entry_time: u32,
    /// The event, as it was asked for.
    pub(crate) event_id: String,
    /// Always 1.
    pub(crate) status: u8,
}

/// Get the number of a request id (AWS-style)
#[utoipa::path(
    get, path = "/queue_num", operation_id = "get_queue_num", tag = "aws-style",
    params(EventQuery, RequestQuery),
    responses(
        (status = 200, description = "The number", body = QueueNum),
        (status = 202, description = "Not a request id of this event, or its draw is yet to come", body = ErrorBody),
        AwsBadRequest, Busy,
    )
)]
pub(crate) async fn get_queue_num(
    State(admission): State<Arc<Admission>>,
    method: Method,
    RawQuery(query): RawQuery,
) -> Result<Response, AwsError> {
    let [event_id, request_id] = required(query.as_deref(), ["event_id", "request_id"])?;
    let mut room = event(&admission, &event_id).await?.ok_or(AwsError::InvalidEventOrRequest)?;
    let opened = place(&admission, &mut room, &request_id, &method).await?;
    let place = opened.map_err(|error| match error {
        RequestIdError::Malformed => AwsError::InvalidEventOrRequest,
        RequestIdError::Foreign => AwsError::NotFoundYet,
    })?;
    // Clients compare this with the serving counter: after a draw it is the place drawn.
    let queue_number = room.snapshot.position(place.number).ok_or(AwsError::NotFoundYet)?;
    let entry_time = place.entered_at;
    let found = QueueNum { queue_number, entry_time, event_id, status: 1 };
    Ok(([(CACHE_CONTROL, "no-store")], Json(found)).into_response())
}
