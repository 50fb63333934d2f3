//! The OpenAPI document: its head, and how it is served and written. Its operations are the
//! router's. It is committed as `openapi/controller.json`.

use axum::{Json, Router, routing::get};
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

use crate::rooms::BEHIND;

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
        (name = "pages", description = "What visitors see"),
        (name = "events", description = "What a room does at given times"),
        (name = "keys", description = "The keys that sign access tokens"),
        (name = "aws-style", description = "What clients of the AWS-style API call"),
    )
)]
struct Head;

struct BearerToken;

/// The document without the operations.
pub(crate) fn frame() -> Document {
    Head::openapi()
}

/// Adds the header of changes that are not everywhere yet to the operations that make them: those
/// that may conflict with others, and the deletion of a room.
pub(crate) fn describe_rollouts(document: &mut Document) {
    let items = document.paths.paths.values_mut();
    let changes = items.flat_map(|item| [&mut item.put, &mut item.patch, &mut item.delete]);
    for operation in changes.flatten() {
        let is_deletion = operation.operation_id.as_deref() == Some("delete_room");
        if is_deletion || operation.responses.responses.contains_key("409") {
            describe_rollout(operation);
        }
    }
}

/// The document as it is committed.
#[must_use]
pub(crate) fn text(document: &Document) -> String {
    // Maps of strings: writing them cannot fail.
    document.to_pretty_json().unwrap_or_default()
}

/// `/openapi.json` and `/docs`.
pub(crate) fn routes<S: Clone + Send + Sync + 'static>(document: Document) -> Router<S> {
    docs::routes().route("/openapi.json", get(async move || Json(document)))
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
        let scheme = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
        components.add_security_scheme("bearer", scheme);
    }
}
