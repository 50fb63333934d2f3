//! `GET /waiting_num`: how many hold a number and have not entered. The same for everyone, so any cache may keep it.

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

/// How many wait.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WaitingNum {
    /// Numbers given out, less those that entered and those that expired.
    pub(crate) waiting_num: u64,
}

/// Get how many wait (AWS-style)
#[utoipa::path(
    get, path = "/waiting_num", operation_id = "get_waiting_num", tag = "aws-style",
    params(EventQuery),
    responses(
        (status = 200, description = "How many wait.", body = WaitingNum),
        AwsBadRequest, Busy,
    )
)]
pub(crate) async fn get_waiting_num(
    State(admission): State<Arc<Admission>>,
    RawQuery(query): RawQuery,
) -> Result<Response, AwsError> {
    let [event_id] = required(query.as_deref(), ["event_id"])?;
    let room = event(&admission, &event_id).await?.ok_or(AwsError::InvalidEvent)?;
    let waiting_num = room.snapshot.numbers_waiting(room.progress());
    Ok(([(CACHE_CONTROL, "public, max-age=1")], Json(WaitingNum { waiting_num })).into_response())
}
