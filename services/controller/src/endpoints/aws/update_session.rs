//! `POST /update_session`

use std::{collections::BTreeMap, sync::Arc};

use axum::{Json, extract::State};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;
use vestibule_domain::webhook::EventKind;
use vestibule_issuance::aws::{AwsBadRequest, AwsError, ErrorBody};
use vestibule_store::{Departure, EndedAs, KnownRoom};
use vestibule_token::RequestIdError;

use crate::{
    access::Caller,
    audit::Trail,
    endpoints::responses::{AwsBodyRefusals, AwsRefusals},
    extractors::{AwsBody, WholeNumber},
    rooms::RoomError,
    state::Controller,
    webhooks::news::SessionUpdated,
};

/// Whose session, and how it ended.
#[derive(Debug, Clone, Deserialize, ToSchema)]
pub(crate) struct SessionUpdate {
    /// The event: a room's name, or its `aws_event_id`.
    event_id: String,
    /// Who it was.
    request_id: String,
    /// 1: completed. -1: abandoned.
    #[schema(value_type = i64)]
    status: WholeNumber,
}

/// In the form of the original's database. Clients look at the status only.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct Updated {
    /// About the answer.
    #[serde(rename = "ResponseMetadata")]
    response_metadata: ResponseMetadata,
}

/// What the original's database says of its own answer.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct ResponseMetadata {
    /// A name for the call, of no meaning.
    request_id: String,
    /// Always 200.
    #[serde(rename = "HTTPStatusCode")]
    http_status_code: u16,
    /// Always none.
    #[serde(rename = "HTTPHeaders")]
    http_headers: BTreeMap<String, String>,
    /// Always 0.
    retry_attempts: u8,
}

/// Ends a session before its time.
///
/// Its seat is free when its token ends, or at once, as `seats_end_with` of the room says. Done once only: a session that is over stays as it is.
#[utoipa::path(
    post, path = "/update_session", tag = "aws-style", request_body = SessionUpdate,
    responses(
        (status = 200, description = "It is over", body = Updated),
        (status = 404, description = "There is no such session, or it is over", body = ErrorBody),
        AwsBadRequest, AwsBodyRefusals, AwsRefusals,
    )
)]
pub(crate) async fn update_session(
    State(controller): State<Arc<Controller>>,
    caller: Caller,
    trail: Trail,
    AwsBody(body): AwsBody<SessionUpdate>,
) -> Result<Json<Updated>, AwsError> {
    let ended_as = ended_as(body.status)?;
    let known = controller.rooms.event(&caller, &body.event_id).await.map_err(invalid)?;
    let snapshot = known.snapshot();
    let ciphers = controller.ciphers.get(&snapshot.room, snapshot.reset_epoch);
    let place = ciphers.request_ids.open(&body.request_id).map_err(|error| match error {
        RequestIdError::Malformed => AwsError::InvalidEventOrRequest,
        RequestIdError::Foreign => AwsError::NoSession,
    })?;
    let config = controller.rooms.read_config(&snapshot.room).await.map_err(invalid)?;
    let seat = config.binding.seat_ends();
    let session = |state: &str| json!({ "session": state });
    trail.name_room(snapshot.room.as_str());
    trail.name_subject("session", place.number);
    trail.change(&session("active"), &session(ended_as.name()));
    let departure = Departure { number: place.number, ended_as, seat };
    let left = controller.store.leave(&snapshot.room, snapshot.reset_epoch, &[departure]).await;
    match left {
        Ok(ended) if ended.contains(&true) => {
            tell_of_end(&controller, &known, ended_as, &body.request_id);
            Ok(Json(Updated::new(controller.tokens.random_text())))
        }
        Ok(_) => Err(AwsError::NoSession),
        Err(error) => Err(invalid(controller.rooms.explain(&snapshot.room, error).await)),
    }
}

/// Counts that a session was ended, and has webhooks told, as the original tells it.
pub(crate) fn tell_of_end(
    controller: &Controller,
    known: &KnownRoom,
    ended_as: EndedAs,
    request_id: &str,
) {
    let (snapshot, status) = (known.snapshot(), ended_as.name());
    controller.metrics.sessions_ended.get_or_create(&[("outcome", status)]).inc();
    if snapshot.settings.aws_style_api {
        let told = SessionUpdated { event_id: snapshot.event_id(), request_id, status };
        let (room, now_ms) = (snapshot.room.as_str(), known.now_ms());
        controller.outbox.post(EventKind::SessionUpdated, room, now_ms, told);
    }
}

// === impl Updated ===

impl Updated {
    fn new(request_id: String) -> Self {
        let http_headers = BTreeMap::new();
        let response_metadata =
            ResponseMetadata { request_id, http_status_code: 200, http_headers, retry_attempts: 0 };
        Self { response_metadata }
    }
}

fn ended_as(status: WholeNumber) -> Result<EndedAs, AwsError> {
    match status.0 {
        1 => Ok(EndedAs::Completed),
        -1 => Ok(EndedAs::Abandoned),
        _ => Err(AwsError::bad_request("Invalid status: 1 (completed) or -1 (abandoned)")),
    }
}

fn invalid(error: RoomError) -> AwsError {
    match error {
        RoomError::Unknown => AwsError::InvalidEventOrRequest,
        other => other.into(),
    }
}
