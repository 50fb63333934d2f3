//! Answers that many calls share, as the OpenAPI document describes them.

use std::collections::BTreeMap;

use utoipa::{
    IntoResponses,
    openapi::{Ref, RefOr, Response, ResponseBuilder, content::ContentBuilder},
};
use vestibule_runtime::problem::PROBLEM_JSON;

/// Answers that every `/v1` call may give.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Refusals;

/// Answers of calls for a room.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NoSuchRoom;

/// Answers of calls for an event.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NoSuchEvent;

/// Answers of calls for a session.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NoSuchSession;

/// Answers of calls that change a room.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Busy;

/// Answers of calls with fields.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InvalidRequest;

/// Answers that every AWS-style call may give.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AwsRefusals;

// === impl IntoResponses ===

impl IntoResponses for Refusals {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        [
            problem("401", "The API token is missing or wrong"),
            problem("503", "Redis cannot be reached, or too much is going on: see Retry-After"),
        ]
        .into()
    }
}

impl IntoResponses for NoSuchRoom {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        [problem("404", "There is no such room")].into()
    }
}

impl IntoResponses for NoSuchEvent {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        [problem("404", "There is no such room, or it has no such event")].into()
    }
}

impl IntoResponses for NoSuchSession {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        [problem("404", "There is no such room, or no such session, or it is over")].into()
    }
}

impl IntoResponses for Busy {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        [problem("409", "Others keep changing the room. Nothing was changed")].into()
    }
}

impl IntoResponses for InvalidRequest {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        [problem("400", "A field is wrong: see `errors`. Nothing was changed")].into()
    }
}

impl IntoResponses for AwsRefusals {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        [
            response("403", "The API token is missing or wrong", "application/json", "MessageBody"),
            problem("503", "Redis cannot be reached, or too much is going on: see Retry-After"),
        ]
        .into()
    }
}

fn problem(status: &str, description: &str) -> (String, RefOr<Response>) {
    response(status, description, PROBLEM_JSON, "Problem")
}

fn response(
    status: &str,
    description: &str,
    media_type: &str,
    schema: &str,
) -> (String, RefOr<Response>) {
    let content = ContentBuilder::new().schema(Some(Ref::from_schema_name(schema))).build();
    let response = ResponseBuilder::new().description(description).content(media_type, content);
    (status.to_owned(), response.build().into())
}
