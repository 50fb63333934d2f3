//! `/authorize/envoy/…`: whether Envoy is to let a request pass, asked over HTTP.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    http::StatusCode,
    response::Response,
};
use vestibule_runtime::problem::Problem;

use crate::{
    authorizer::{OriginalRequest, Refusal},
    state::Admission,
};

/// What `path_prefix` is in Envoy's configuration.
pub(crate) const PREFIX: &str = "/authorize/envoy";

/// As `/authorize`, for the HTTP service of Envoy's `ext_authz` with this path as `path_prefix`:
/// method, host, path and query are the request's own. A refusal is the waiting page itself, or its
/// JSON, with 429 where it would be 5xx. Not in the OpenAPI document, which has no form for a path of any length.
pub(crate) async fn authorize_envoy(
    State(admission): State<Arc<Admission>>,
    request: Request,
) -> Result<Response, Problem> {
    let (parts, _) = request.into_parts();
    let authorizer = &admission.authorizer;
    let original = OriginalRequest::behind_prefix(&parts, PREFIX, &authorizer.clients.proxies)?;
    let decision = authorizer.decide(&original, &parts.headers).await?;
    let mut response = authorizer.respond(decision, &original, &parts.headers, Refusal::Page).await;
    // Envoy takes 5xx for a failure of ours, and shows none of it.
    if response.status().is_server_error() {
        *response.status_mut() = StatusCode::TOO_MANY_REQUESTS;
    }
    Ok(response)
}
