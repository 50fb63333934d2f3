//! `POST /generate_token`: a served visitor enters and gets its tokens.

use std::sync::Arc;

use axum::{
    extract::State,
    http::{Extensions, HeaderMap, Method},
};
use serde::Deserialize;
use serde_json::Number;
use utoipa::ToSchema;
use vestibule_issuance::aws::{self, AwsBadRequest, AwsError, ErrorBody, Tokens};
use vestibule_runtime::{extract::Json, problem::Problem};

use super::event::{body, event, place};
use crate::{
    endpoints::responses::{BodyRefusals, Busy, OverLimit},
    state::Admission,
};

/// Who wants to enter.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct GenerateToken {
    /// The event: a room's name, or its `aws_event_id`.
    pub(crate) event_id: String,
    /// The visitor's request id.
    pub(crate) request_id: String,
    /// Of no effect here: only the private call goes by it.
    #[expect(dead_code, reason = "its type is checked")]
    pub(crate) issuer: Option<String>,
    /// Likewise.
    #[expect(dead_code, reason = "its type is checked")]
    #[schema(value_type = Option<f64>)]
    pub(crate) validity_period: Option<Number>,
}

/// Enter an event (AWS-style)
///
/// The same call gives the same tokens again. A visitor who is served and finds no seat is held for up to
/// ten seconds, and gets one that comes free; then the answer is 202, like while the visitor is not
/// served yet: ask again. Four calls for one visitor are held at a time, a further one is answered at once.
#[utoipa::path(
    post, path = "/generate_token", operation_id = "generate_token", tag = "aws-style",
    request_body = GenerateToken,
    responses(
        (status = 200, description = "The tokens", body = Tokens),
        (status = 202, description = "Not served yet, or no seat is free", body = ErrorBody),
        (status = 410, description = "The position has expired, or the session is over", body = ErrorBody),
        AwsBadRequest, BodyRefusals, OverLimit, Busy,
    )
)]
pub(crate) async fn generate_token(
    State(admission): State<Arc<Admission>>,
    extensions: Extensions,
    headers: HeaderMap,
    json: Result<Json<GenerateToken>, Problem>,
) -> Result<Tokens, AwsError> {
    let GenerateToken { event_id, request_id, .. } = body(json)?;
    let room = match event(&admission, &event_id).await? {
        Some(mut room) => {
            // Whoever asks by its name is there, also when it is answered 202.
            place(&admission, &mut room, &request_id, &Method::POST).await?.ok();
            admission.clients.identify(&mut room, &extensions, &headers);
            Some(room)
        }
        None => None,
    };
    let issuer = room.as_ref().and_then(|room| room.snapshot.settings.issuer.as_deref());
    let with = admission.generate_token_context(room.as_ref(), issuer);
    aws::generate_token(with, room.as_ref().map(|room| Arc::clone(&room.known)), &request_id).await
}
