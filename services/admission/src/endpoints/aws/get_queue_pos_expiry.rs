//! `GET /queue_pos_expiry`: how long a served position may still be claimed.

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
use vestibule_store::PositionExpiry;
use vestibule_token::RequestIdError;

use super::event::{EventQuery, RequestQuery, event, place, required};
use crate::{batching::Served, endpoints::responses::Busy, state::Admission};

/// How long a position may still be claimed.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct QueuePosExpiry {
    /// Seconds.
    pub(crate) expires_in: u64,
}

/// Get when a served position expires (AWS-style)
#[utoipa::path(
    get, path = "/queue_pos_expiry", operation_id = "get_queue_pos_expiry", tag = "aws-style",
    params(EventQuery, RequestQuery),
    responses(
        (status = 200, description = "It may be claimed", body = QueuePosExpiry),
        (status = 202, description = "Not served yet, or positions do not expire", body = ErrorBody),
        (status = 404, description = "Not a request id of this event", body = ErrorBody),
        (status = 410, description = "It has expired", body = ErrorBody),
        AwsBadRequest, Busy,
    )
)]
pub(crate) async fn get_queue_pos_expiry(
    State(admission): State<Arc<Admission>>,
    method: Method,
    RawQuery(query): RawQuery,
) -> Result<Response, AwsError> {
    let [event_id, request_id] = required(query.as_deref(), ["event_id", "request_id"])?;
    let mut room = event(&admission, &event_id).await?.ok_or(AwsError::InvalidEventOrRequest)?;
    let opened = place(&admission, &mut room, &request_id, &method).await?;
    let snapshot = &room.snapshot;
    if opened == Err(RequestIdError::Malformed) {
        return Err(AwsError::InvalidEventOrRequest);
    }
    if snapshot.settings.position_expiry_seconds.is_none() {
        return Err(AwsError::ExpiryOff);
    }
    let place = opened.map_err(|_| AwsError::UnknownRequest)?;
    let position = snapshot.position(place.number).ok_or(AwsError::NotServed)?;
    // Nobody is shown a counter that has reached it, so no clock is told either.
    let is_shown =
        i64::try_from(position).is_ok_and(|position| position <= snapshot.shown_counter());
    let served =
        Served { room: snapshot.room.clone(), reset_epoch: snapshot.reset_epoch, place, position };
    match admission.flows.claim_windows.expiry(served).await? {
        PositionExpiry::Claimable { .. } if snapshot.settings.follows_seats() && !is_shown => {
            Err(AwsError::NotServed)
        }
        PositionExpiry::Claimable { seconds_left } => {
            let left = QueuePosExpiry { expires_in: seconds_left };
            Ok(([(CACHE_CONTROL, "no-store")], Json(left)).into_response())
        }
        PositionExpiry::Never => Err(AwsError::ExpiryOff),
        PositionExpiry::NotServed => Err(AwsError::NotServed),
        PositionExpiry::Expired => Err(AwsError::PositionExpired),
        PositionExpiry::Foreign => Err(AwsError::UnknownRequest),
    }
}
