//! `GET /serving_num`: how far the line has been served. The same for everyone, so any cache may keep it.

use std::sync::Arc;

use axum::{
    Json,
    extract::{RawQuery, State},
    http::header::CACHE_CONTROL,
    response::{IntoResponse, Response},
};
use serde::Serialize;
use utoipa::ToSchema;
use vestibule_issuance::aws::{AwsBadRequest, AwsError};

use super::event::{EventQuery, event, required};
use crate::{endpoints::responses::Busy, state::Admission};

/// The serving counter.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ServingNum {
    /// Everyone whose number is at or below it may enter. A decimal number, as text. In a room with
    /// `serving_counter_follows_seats` it is no higher than there are seats.
    pub(crate) serving_counter: String,
}

/// Get the serving counter (AWS-style)
#[utoipa::path(
    get, path = "/serving_num", operation_id = "get_serving_num", tag = "aws-style",
    params(EventQuery),
    responses(
        (status = 200, description = "The serving counter.", body = ServingNum),
        AwsBadRequest, Busy,
    )
)]
pub(crate) async fn get_serving_num(
    State(admission): State<Arc<Admission>>,
    RawQuery(query): RawQuery,
) -> Result<Response, AwsError> {
    let [event_id] = required(query.as_deref(), ["event_id"])?;
    let room = event(&admission, &event_id).await?.ok_or(AwsError::InvalidEvent)?;
    let serving_counter = room.snapshot.shown_counter().to_string();
    Ok(([(CACHE_CONTROL, "public, max-age=1")], Json(ServingNum { serving_counter }))
        .into_response())
}
