//! Which event, and which request, an AWS-style call is about.

use axum::http::Method;
use serde::de::DeserializeOwned;
use utoipa::IntoParams;
use vestibule_domain::{Place, settings::LONGEST_EVENT_ID};
use vestibule_issuance::{RoomCiphers, aws::AwsError};
use vestibule_runtime::problem::{Problem, ProblemType};
use vestibule_token::RequestIdError;

use crate::{
    flows::{NoRoom, RoomContext},
    state::Admission,
};

/// Which event, as the API document describes it: [`required`] reads it.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "read by the API document only")]
pub(super) struct EventQuery {
    /// The event: a room's name, or its `aws_event_id`.
    #[param(min_length = 1, max_length = 256)]
    event_id: String,
}

/// Whose request, likewise.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "read by the API document only")]
pub(super) struct RequestQuery {
    /// The visitor's request id.
    request_id: String,
}

/// The value of each of `names` in a query, all of which must be there and not blank.
pub(super) fn required<const N: usize>(
    query: Option<&str>,
    names: [&'static str; N],
) -> Result<[String; N], AwsError> {
    let mut values: [Option<String>; N] = [const { None }; N];
    for (name, value) in form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
        if let Some(nth) = names.iter().position(|wanted| *wanted == name) {
            values[nth] = Some(value.into_owned()).filter(|value| !value.trim().is_empty());
        }
    }
    let missing: Vec<_> = names
        .iter()
        .zip(&values)
        .filter(|(_, value)| value.is_none())
        .map(|(name, _)| *name)
        .collect();
    if !missing.is_empty() {
        let missing = missing.join(", ");
        return Err(AwsError::bad_request(format!(
            "Missing required request parameters: [{missing}]"
        )));
    }
    Ok(values.map(Option::unwrap_or_default))
}

/// The body of a call, whatever its content type says.
pub(super) fn body<T: DeserializeOwned>(
    body: Result<vestibule_runtime::extract::Json<T>, Problem>,
) -> Result<T, AwsError> {
    match body {
        Ok(body) => Ok(body.0),
        Err(problem) if problem.kind() == ProblemType::InvalidRequest => {
            Err(AwsError::bad_request("Invalid request body"))
        }
        Err(problem) => Err(problem.into()),
    }
}

/// The room that is the event `event_id`, if there is one.
///
/// # Errors
/// If it may be one that this instance has not heard of yet, or does not answer these calls.
pub(super) async fn event(
    admission: &Admission,
    event_id: &str,
) -> Result<Option<RoomContext>, Problem> {
    if !(1..=LONGEST_EVENT_ID).contains(&event_id.chars().count()) {
        return Ok(None);
    }
    let room = match admission.flows.find_event(event_id).await {
        Ok(room) => Some(room),
        Err(NoRoom::Exists) => None,
        Err(NoRoom::IsKnown) => return Err(Problem::new(ProblemType::RedisUnavailable)),
    };
    if room.as_ref().is_some_and(|room| !room.snapshot.settings.aws_style_api) {
        return Err(Problem::new(ProblemType::AwsStyleApiOff)
            .detail("its operator turns them on by `aws_style_api: true` in the room's settings"));
    }
    Ok(room)
}

/// The place that a request id of the event stands for. Whoever asks by it is there, unless the `method` of the call
/// is HEAD, which changes nothing. `room` is read again if the id may be of after a reset that this instance has not
/// heard of.
pub(super) async fn place(
    admission: &Admission,
    room: &mut RoomContext,
    request_id: &str,
    method: &Method,
) -> Result<Result<Place, RequestIdError>, Problem> {
    let open = |ciphers: &RoomCiphers| ciphers.request_ids.open(request_id);
    let opened = admission.flows.open(room, open).await?;
    if let Ok(place) = &opened
        && method != Method::HEAD
    {
        admission.flows.heard(room, place);
    }
    Ok(opened)
}
