//! `POST /revoke`: the site has ended a visitor's session by a header of its answer, and the
//! gateway passes that on.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, StatusCode, header::CACHE_CONTROL},
    response::{IntoResponse, Response},
};
use vestibule_runtime::problem::{Problem, ProblemType};
use vestibule_site::OriginCommand;
use vestibule_store::EndedAs;

use crate::{
    authorizer::OriginalRequest,
    endpoints::responses::{Busy, GatewayRefusals},
    extractors::PresentedTicket,
    responses::VisitorReply,
    state::Admission,
};

/// As Vestibule, and as Cloudflare spells it.
const COMMANDS: [&str; 2] = ["vestibule-command", "cf-waiting-room-command"];

/// End the session of a visitor as its site orders
///
/// For gateways, when the site's answer has the header `Vestibule-Command: revoke` (or
/// `Cf-Waiting-Room-Command: revoke`): the request is told as for `/authorize`, with its cookies
/// and the site's header. The seat is free at once, and the visitor's next request is that of a
/// newcomer. The room must have `revoke` among its `origin_commands`.
#[utoipa::path(
    post, path = "/revoke", operation_id = "revoke", tag = "gateways",
    params(
        ("Vestibule-Command" = String, Header, description = "`revoke`, from the site's answer"),
        ("X-Forwarded-Method" = String, Header, description = "The method of the request"),
        ("X-Forwarded-Proto" = String, Header, description = "`https` or `http`"),
        ("X-Forwarded-Host" = String, Header, description = "The host that was asked for"),
        ("X-Forwarded-Uri" = String, Header, description = "Path and query as they were sent"),
    ),
    responses(
        (status = 204, description = "Revoked, or there was no session; `Set-Cookie` takes the ticket"),
        (status = 404, description = "No room covers the request", body = Problem, content_type = "application/problem+json"),
        Busy, GatewayRefusals,
    )
)]
pub(crate) async fn revoke(
    State(admission): State<Arc<Admission>>,
    request: Request,
) -> Result<Response, Problem> {
    let (parts, _) = request.into_parts();
    let authorizer = &admission.authorizer;
    let original = OriginalRequest::forwarded(&parts, &authorizer.clients.proxies)?;
    require_command(&parts.headers)?;
    let mut room = authorizer
        .covering(&original, &parts.headers)
        .await?
        .ok_or_else(|| Problem::new(ProblemType::RoomNotFound))?;
    if !room.binding.origin_commands.contains(&OriginCommand::Revoke) {
        let refused = Problem::new(ProblemType::InvalidRequest);
        return Err(refused.detail("the room does not take this command: see origin_commands"));
    }
    let mut response = StatusCode::NO_CONTENT.into_response();
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    let presented = PresentedTicket::read(&admission.flows, &mut room, &parts.headers).await?;
    if let Some(ticket) = presented.known()?.filter(|ticket| ticket.seat().is_some()) {
        let left = admission.flows.leave(&room, ticket, EndedAs::Revoked).await?;
        let reply = VisitorReply { room: &room, presented: &presented, response: &left };
        reply.write_ticket(response.headers_mut());
    }
    Ok(response)
}

fn require_command(headers: &HeaderMap) -> Result<(), Problem> {
    let mut given = COMMANDS.into_iter().filter_map(|name| headers.get(name));
    if given.any(|command| command.as_bytes().trim_ascii().eq_ignore_ascii_case(b"revoke")) {
        return Ok(());
    }
    let refused = Problem::new(ProblemType::InvalidRequest);
    Err(refused.field("Vestibule-Command", "must be `revoke`"))
}
