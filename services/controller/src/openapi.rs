//! The OpenAPI document: its head, and how it is served and written. Its operations are the
//! router's. It is committed as `openapi/controller.json`.

use axum::{
    Json, Router,
    http::{Method, header::CONTENT_TYPE},
    routing::get,
};
use utoipa::{
    Modify, OpenApi,
    openapi::{
        HeaderBuilder, ObjectBuilder, OpenApi as Document, RefOr,
        path::Operation,
        schema::Type,
        security::{Http, HttpAuthScheme, SecurityScheme},
    },
};
use vestibule_issuance::aws::{ErrorBody, MessageBody};
use vestibule_runtime::{Problem, docs};

use crate::{access::operation, api_types::editors_schema, rooms::BEHIND};

/// Where editors find the schema of rooms as one document.
pub(crate) const SCHEMA_PATH: &str = "/v1/config/schema";

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Vestibule controller",
        description = "Rooms, keys, and the private calls of the AWS-style API. Those are here \
            under `/api`; the same paths without it do the same.",
    ),
    components(schemas(Problem, ErrorBody, MessageBody)),
    modifiers(&BearerToken),
    security(("bearer" = [])),
    tags(
        (name = "rooms", description = "Setting rooms up, and watching them"),
        (name = "config", description = "All rooms as one document"),
        (name = "pages", description = "What visitors see"),
        (name = "events", description = "What a room does at given times"),
        (name = "inlets", description = "What lets people in by itself"),
        (name = "tokens", description = "The tokens that callers show, and who has changed what"),
        (name = "keys", description = "The keys that sign access tokens"),
        (name = "aws-style", description = "What clients of the AWS-style API call"),
    )
)]
struct Head;

struct BearerToken;

const DESCRIPTION: &str = "`VESTIBULE_API_TOKEN`, which may do everything, or a token with a role, perhaps for some \
    rooms alone: `viewer` reads, `operator` also changes rooms that there are, `admin` may do everything. See \
    `POST /v1/tokens`. What each call needs is its `x-required-role`. The AWS-style calls, and `POST /v1/rooms/{room}/inlet`, may instead be signed by AWS \
    Signature Version 4, for the service `execute-api` and the region `VESTIBULE_SIGV4_REGION`, by a key of \
    `VESTIBULE_SIGV4_KEYS` or of `POST /v1/sigv4-keys`.";

/// The document without the operations.
pub(crate) fn frame() -> Document {
    Head::openapi()
}

/// Adds the header of changes that are not everywhere yet to the operations that make them: those
/// that may conflict with others, the deletion of a room, the revocation of a place, and a new secret of a client.
pub(crate) fn describe_rollouts(document: &mut Document) {
    let items = document.paths.paths.iter_mut();
    let items = items.filter(|(path, _)| !path.starts_with("/v1/webhooks"));
    let changes = items.flat_map(|(_, item)| [&mut item.put, &mut item.patch, &mut item.delete]);
    for operation in changes.flatten() {
        let is_named =
            matches!(operation.operation_id.as_deref(), Some("delete_room" | "revoke_session"));
        if is_named || operation.responses.responses.contains_key("409") {
            describe_rollout(operation);
        }
    }
    let posts = document.paths.paths.values_mut().filter_map(|item| item.post.as_mut());
    for operation in posts {
        if operation.operation_id.as_deref() == Some("create_client_secret") {
            describe_rollout(operation);
        }
    }
}

/// Says of every operation which role it needs, for people and as `x-required-role` for programs.
pub(crate) fn describe_roles(document: &mut Document) {
    for (path, item) in &mut document.paths.paths {
        let all = [
            (Method::GET, &mut item.get),
            (Method::PUT, &mut item.put),
            (Method::POST, &mut item.post),
            (Method::PATCH, &mut item.patch),
            (Method::DELETE, &mut item.delete),
        ];
        for (method, described) in all {
            let Some(described) = described else { continue };
            let operation = operation(&method, path);
            let role = operation.role.name();
            // Whoever has signed it is no caller with a role.
            if operation.name == "receive_notification" {
                continue;
            }
            let needs = format!("Needs the role `{role}`.");
            let text = described.description.take().map(|text| format!("{text}\n\n{needs}"));
            described.description = Some(text.unwrap_or(needs));
            let extensions = described.extensions.get_or_insert_default();
            extensions.insert("x-required-role".to_owned(), role.into());
        }
    }
}

/// The document as it is committed.
#[must_use]
pub(crate) fn text(document: &Document) -> String {
    // Maps of strings: writing them cannot fail.
    document.to_pretty_json().unwrap_or_default()
}

/// The schema of rooms as one document, as it is committed.
#[must_use]
pub(crate) fn schema_text() -> String {
    // Maps of strings: writing them cannot fail.
    serde_json::to_string_pretty(&editors_schema()).unwrap_or_default()
}

/// `/openapi.json`, `/docs`, and the schema for editors, which show no token.
pub(crate) fn routes<S: Clone + Send + Sync + 'static>(document: Document) -> Router<S> {
    let schema = async || ([(CONTENT_TYPE, "application/schema+json")], schema_text());
    docs::routes()
        .route("/openapi.json", get(async move || Json(document)))
        .route(SCHEMA_PATH, get(schema))
}

fn describe_rollout(operation: &mut Operation) {
    for (status, response) in &mut operation.responses.responses {
        if let (true, RefOr::T(response)) = (status.starts_with('2'), response) {
            let header = HeaderBuilder::new()
                .schema(Some(ObjectBuilder::new().schema_type(Type::String)))
                .description(Some(
                    "Only if an admission does not go by the change after a second: how many do \
                     not, in words. Else the change holds everywhere when the call is answered",
                ));
            response.headers.insert(BEHIND.to_string(), header.build().into());
        }
    }
}

// === impl BearerToken ===

impl Modify for BearerToken {
    fn modify(&self, document: &mut Document) {
        let components = document.components.get_or_insert_default();
        let mut bearer = Http::new(HttpAuthScheme::Bearer);
        bearer.description = Some(DESCRIPTION.to_owned());
        let scheme = SecurityScheme::Http(bearer);
        components.add_security_scheme("bearer", scheme);
    }
}
