//! `POST /revoke`: the site has ended a visitor's session by a header of its answer, and the
//! gateway passes that on.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, StatusCode, header::CACHE_CONTROL},
    response::{IntoResponse, Response},
};
use vestibule_domain::site::OriginCommand;
use vestibule_issuance::problem_of;
use vestibule_runtime::problem::{Problem, ProblemType};
use vestibule_store::{Departure, EndedAs};

use crate::{
    authorizer::{OriginalRequest, covering},
    state::Admission,
    visitor::{Status, VisitorRequest, VisitorResponder, end_of},
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
        (status = 400, description = "No command, or one that the room does not take", body = Problem),
        (status = 403, description = "The caller is not a trusted proxy", body = Problem),
        (status = 404, description = "No room covers the request", body = Problem),
        (status = 503, description = "The store is away; see Retry-After", body = Problem),
    )
)]
pub(crate) async fn revoke(
    State(admission): State<Arc<Admission>>,
    request: Request,
) -> Result<Response, Problem> {
    let (parts, _) = request.into_parts();
    let original = OriginalRequest::forwarded(&parts, &admission.proxies)?;
    require_command(&parts.headers)?;
    let context =
        covering(&admission, &original)?.ok_or_else(|| Problem::new(ProblemType::RoomNotFound))?;
    if !context.binding.origin_commands.contains(&OriginCommand::Revoke) {
        let refused = Problem::new(ProblemType::InvalidRequest);
        return Err(refused.detail("the room does not take this command: see origin_commands"));
    }
    let caller = VisitorRequest::new(context, &parts.headers);
    let (context, carrier) = (&caller.context, caller.carrier);
    let mut response = StatusCode::NO_CONTENT.into_response();
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    let Ok((ticket, _)) = caller.ticket else { return Ok(response) };
    if ticket.seat.is_some_and(|seat| end_of(&seat).is_none()) {
        let number = ticket.waiter.place.number;
        let departure = Departure { number, ended_as: EndedAs::Revoked };
        let snapshot = &context.snapshot;
        let left = admission.leaves.leave(&snapshot.room, snapshot.reset_epoch, departure).await;
        left.map_err(|error| problem_of(&error))?;
        let over =
            VisitorResponder::new(&admission, context, carrier).over(ticket, Status::Closed)?;
        over.hand_over(response.headers_mut());
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
