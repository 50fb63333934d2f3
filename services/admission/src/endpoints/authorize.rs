//! `GET /authorize`: whether a gateway is to let a request pass.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    response::Response,
};
use vestibule_runtime::{extract::Query, problem::Problem};

use crate::{
    authorizer::{OriginalRequest, RefusalQuery},
    endpoints::responses::GatewayRefusals,
    responses::StatusBody,
    state::Admission,
};

/// Decide about a request for a site
///
/// For gateways: nginx `auth_request`, Traefik and Caddy forward authentication, `HAProxy`. They tell
/// the request in `X-Forwarded-Method`, `-Proto`, `-Host`, `-Uri` and `-For`, and pass its headers
/// on, and ask by GET or HEAD. 200 lets it pass; `Set-Cookie`, if there is one, is for the visitor. A
/// visitor inside is decided about in memory; a newcomer enters in this very call when there is
/// room. Everything else is a refusal, whose form `refuse` chooses. Only trusted proxies may ask.
#[utoipa::path(
    get, path = "/authorize", operation_id = "authorize", tag = "gateways",
    params(
        RefusalQuery,
        ("X-Forwarded-Method" = String, Header, description = "The method of the request"),
        ("X-Forwarded-Proto" = String, Header, description = "`https` or `http`"),
        ("X-Forwarded-Host" = String, Header, description = "The host that was asked for"),
        ("X-Forwarded-Uri" = String, Header, description = "Path and query as they were sent"),
        ("X-Forwarded-For" = Option<String>, Header, description = "The visitor's address, and those of proxies on the way"),
    ),
    responses(
        (status = 200, description = "Let it pass", headers(
            ("Vestibule-Decision" = String, description = "`inside`, `entered`, `bypassed`, `open` (the room is suspended) or `uncovered`"),
            ("Vestibule-Room" = String, description = "The room that covers it"),
            ("Vestibule-Token" = String, description = "The access token, when it is new"),
            ("Set-Cookie" = String, description = "The ticket, when it is new"),
        )),
        (status = 302, description = "`refuse=redirect`: to the waiting page"),
        (status = 401, description = "`refuse=status`: the visitor waits; `Vestibule-Ticket` is its newest ticket. Or the session is bound to a key, and there is no good proof (`DPoP`) of it"),
        (status = 429, description = "As 503, if the room's `queueing_status_code` says so. Or the session makes too many requests: see Retry-After", content(
            (String = "text/html"), (serde_json::Value = "application/vnd.vestibule.page+json"), (StatusBody = "application/json"),
        )),
        (status = 503, description = "The visitor waits: the page, or its JSON. Or the service is busy: see Retry-After", content(
            (String = "text/html"), (serde_json::Value = "application/vnd.vestibule.page+json"), (StatusBody = "application/json"), (Problem = "application/problem+json"),
        )),
        GatewayRefusals,
    )
)]
pub(crate) async fn authorize(
    State(admission): State<Arc<Admission>>,
    Query(query): Query<RefusalQuery>,
    request: Request,
) -> Result<Response, Problem> {
    let (parts, _) = request.into_parts();
    let authorizer = &admission.authorizer;
    let original = OriginalRequest::forwarded(&parts, &authorizer.clients.proxies)?;
    let decision = authorizer.decide(&original, &parts.headers).await?;
    Ok(authorizer.respond(decision, &original, &parts.headers, query.refuse).await)
}
