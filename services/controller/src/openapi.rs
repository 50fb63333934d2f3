//! The OpenAPI document: made from the endpoints, committed as `openapi/controller.json`, served at
//! `/openapi.json` and, for people, at `/docs`.

use std::collections::BTreeMap;

use axum::{Json, Router, routing::get};
use utoipa::{
    IntoResponses, Modify, OpenApi,
    openapi::{
        OpenApi as Document, Ref, RefOr, Response, ResponseBuilder,
        content::ContentBuilder,
        security::{Http, HttpAuthScheme, SecurityScheme},
    },
};
use utoipa_axum::router::OpenApiRouter;
use utoipa_scalar::{Scalar, Servable};
use vestibule_issuance::aws::MessageBody;
use vestibule_runtime::{Problem, problem::PROBLEM_JSON};

use crate::router;

/// Answers that every `/v1` call may give.
#[derive(Debug, Clone, Copy)]
pub struct Refusals;

/// Answers of calls for a room.
#[derive(Debug, Clone, Copy)]
pub struct NoSuchRoom;

/// Answers of calls for an event.
#[derive(Debug, Clone, Copy)]
pub struct NoSuchEvent;

/// Answers of calls for a session.
#[derive(Debug, Clone, Copy)]
pub struct NoSuchSession;

/// Answers of calls that change a room.
#[derive(Debug, Clone, Copy)]
pub struct Busy;

/// Answers of calls with fields.
#[derive(Debug, Clone, Copy)]
pub struct InvalidRequest;

/// Answers that every AWS-style call may give.
#[derive(Debug, Clone, Copy)]
pub struct AwsRefusals;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Vestibule controller",
        description = "Rooms, keys, and the private calls of the AWS-style API. Those are here \
            under `/api`; the same paths without it do the same.",
    ),
    components(schemas(Problem, MessageBody)),
    modifiers(&BearerToken),
    security(("bearer" = [])),
    tags(
        (name = "rooms", description = "Setting rooms up, and watching them"),
        (name = "pages", description = "What visitors see"),
        (name = "events", description = "What a room does at given times"),
        (name = "keys", description = "The keys that sign access tokens"),
        (name = "aws-style", description = "What clients of the AWS-style API call"),
    )
)]
struct Head;

struct BearerToken;

/// The document.
#[must_use]
pub fn document() -> Document {
    OpenApiRouter::with_openapi(Head::openapi())
        .merge(router::v1())
        .nest("/api", router::aws_style())
        .into_openapi()
}

/// The document as it is committed.
#[must_use]
pub fn text() -> String {
    // Maps of strings: writing them cannot fail.
    document().to_pretty_json().unwrap_or_default()
}

/// `/openapi.json` and `/docs`.
pub(crate) fn routes<S: Clone + Send + Sync + 'static>() -> Router<S> {
    let document = document();
    let docs = Router::from(Scalar::with_url("/docs", document.clone()));
    docs.route("/openapi.json", get(async move || Json(document)))
}

// === impl BearerToken ===

impl Modify for BearerToken {
    fn modify(&self, document: &mut Document) {
        let components = document.components.get_or_insert_default();
        let scheme = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
        components.add_security_scheme("bearer", scheme);
    }
}

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

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_committed_document_is_the_codes() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../openapi/controller.json");
        let committed = fs::read_to_string(path).unwrap_or_default();
        // Not as texts: in which order examples have their members depends on what else is built.
        let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
        assert!(
            read(&committed).is_some() && read(&committed) == read(&text()),
            "openapi/controller.json is out of date; run: make openapi"
        );
    }

    #[test]
    fn every_reference_leads_somewhere_and_operations_have_names_of_their_own() {
        let document = document();
        let components = document.components.as_ref().unwrap();
        for reference in text().split("\"#/components/schemas/").skip(1) {
            let name = reference.split('"').next().unwrap();
            assert!(components.schemas.contains_key(name), "{name}");
        }
        let text = text();
        let ids = text.lines().filter(|line| line.contains("\"operationId\""));
        let mut ids: Vec<_> = ids.map(str::trim).collect();
        assert_eq!(ids.len(), 30);
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), 30);
    }
}
