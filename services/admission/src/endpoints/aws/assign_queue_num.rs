//! `POST /assign_queue_num`: a newcomer gets a request id.

use std::sync::Arc;

use axum::{
    Json as JsonAnswer,
    extract::State,
    http::{Extensions, HeaderMap, header::CACHE_CONTROL},
    response::{IntoResponse, Response},
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use vestibule_issuance::aws::{AwsBadRequest, AwsError};
use vestibule_runtime::{extract::Json, problem::Problem};

use super::event::{body, event};
use crate::{
    endpoints::responses::{BodyRefusals, Busy, OverLimit},
    extractors::{ChallengeHeader, solution},
    state::Admission,
};

/// Which event to join.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct AssignQueueNum {
    /// The event: a room's name, or its `aws_event_id`.
    pub(crate) event_id: String,
}

/// The visitor's identity.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Assigned {
    /// The request id: 36 characters, to be kept.
    pub(crate) api_request_id: String,
}

/// Join an event (AWS-style)
///
/// The number behind the id is there at once: `queue_num` needs no retry. Nobody gets to a room's endless line by this
/// call: without a solution it answers 403.
#[utoipa::path(
    post, path = "/assign_queue_num", operation_id = "assign_queue_num", tag = "aws-style",
    params(ChallengeHeader),
    request_body = AssignQueueNum,
    responses(
        (status = 200, description = "A request id", body = Assigned),
        (status = 403, description = "A newcomer of a room with a challenge has to solve it first: `challenge`", body = Problem, content_type = "application/problem+json"),
        AwsBadRequest, BodyRefusals, OverLimit, Busy,
    )
)]
pub(crate) async fn assign_queue_num(
    State(admission): State<Arc<Admission>>,
    extensions: Extensions,
    headers: HeaderMap,
    json: Result<Json<AssignQueueNum>, Problem>,
) -> Result<Response, AwsError> {
    let event_id = body(json)?.event_id;
    let mut room = event(&admission, &event_id).await?.ok_or(AwsError::InvalidEvent)?;
    admission.clients.identify(&mut room, &extensions, &headers);
    let assigned = admission.flows.assign_number(&room, solution(&headers)).await;
    let api_request_id = assigned.map_err(Problem::from)?;
    Ok(([(CACHE_CONTROL, "no-store")], JsonAnswer(Assigned { api_request_id })).into_response())
}
