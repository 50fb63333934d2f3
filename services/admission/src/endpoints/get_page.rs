//! `GET /room/{room}`: the waiting page.

use std::sync::Arc;

use axum::{
    extract::{RawQuery, Request, State},
    http::HeaderMap,
    response::{IntoResponse, Response},
};
use vestibule_runtime::{extract::Path, problem::Problem};

use crate::{
    authorizer::OriginalRequest,
    extractors::{
        self, Asked, Initiator, PresentedTicket, RoomPath, VisitorRequest, is_navigation,
        wants_json, wants_page_json,
    },
    flows::{FlowError, HELD_MS, RoomContext, Sender},
    page::{self, Address},
    responses::{StatusBody, VisitorReply},
    state::Admission,
};

/// Show the waiting page
///
/// For browsers. A newcomer gets a place; whoever's turn it is gets a button: through the gateway in front
/// of the wanted page, or, where there is none, by `POST /room/{room}/enter`. The page asks for updates by
/// itself, with or without script.
///
/// The page's script says how it takes the turn when it comes, by a parameter of the type that it accepts:
/// `application/vnd.vestibule.page+json;turn=enter`, it enters with this request (where the room's `enter` is
/// `automatic`); `…;turn=hold`, a seat is held for `hold_seconds`. At the door the answer may then take two
/// seconds.
///
/// `HEAD` answers the headers alone, gives nobody a place and sets no cookie. A browser that asks for
/// what cannot be a room's name is shown that there is no such room, with 404; others get 400.
///
/// A trusted proxy that tells the original request (`X-Forwarded-Uri`, as nginx's `error_page`
/// does) gets the page for the place of that request.
#[utoipa::path(
    get, path = "/room/{room}", operation_id = "get_page", tag = "page",
    params(
        RoomPath,
        ("return" = Option<String>, Query, description = "The page that is wanted: a path, or an address of a host that the room covers; anything else is ignored"),
        ("lang" = Option<String>, Query, description = "The language; remembered in the cookie `vestibule_lang`"),
    ),
    responses(
        (status = 200, description = "The page; for `Accept: application/vnd.vestibule.page+json` what it shows; for exactly `application/json` where the visitor stands", content(
            (String = "text/html"), (serde_json::Value = "application/vnd.vestibule.page+json"), (StatusBody = "application/json"),
        )),
        (status = 202, description = "The page of someone who waits, if it is the room's `queueing_status_code`", body = String, content_type = "text/html"),
        (status = 400, description = "The name is not a room's (browsers are told so by the page for 404); or a header of a trusted proxy is wrong", body = Problem, content_type = "application/problem+json"),
        (status = 401, description = "The session is bound to a key, and there is no good proof (`DPoP`) of it", body = Problem, content_type = "application/problem+json"),
        (status = 403, description = "A page of another origin fetched it with the visitor's cookie", body = Problem, content_type = "application/problem+json"),
        (status = 404, description = "There is no such room: a page that says so for browsers, a problem for others", content(
            (String = "text/html"), (serde_json::Value = "application/vnd.vestibule.page+json"), (Problem = "application/problem+json"),
        )),
        (status = 429, description = "The page of someone who waits, if it is the room's `queueing_status_code`; or the session makes too many requests: see Retry-After", body = String, content_type = "text/html"),
        (status = 503, description = "Busy: a page that tries again by itself, a problem for others. Or as 429", content(
            (String = "text/html"), (serde_json::Value = "application/vnd.vestibule.page+json"), (Problem = "application/problem+json"),
        )),
    )
)]
pub(crate) async fn get_page(
    State(admission): State<Arc<Admission>>,
    path: Result<Path<RoomPath>, Problem>,
    RawQuery(query): RawQuery,
    request: Request,
) -> Result<Response, Problem> {
    let (parts, _) = request.into_parts();
    let (headers, flows) = (&parts.headers, &admission.flows);
    let query = query.as_deref().unwrap_or_default();
    let mut room = match extractors::room_at(flows, path).await {
        Ok(room) => room,
        Err(problem) => return page::without_room(problem, headers, query),
    };
    let proxies = &admission.clients.proxies;
    admission.clients.identify(&mut room, &parts.extensions, headers);
    let is_forwarded = OriginalRequest::is_forwarded(&parts, proxies);
    let (address, asked) = if is_forwarded {
        let original = OriginalRequest::forwarded(&parts, proxies)?;
        room.caller.https = original.https;
        let address = Address::in_place(&flows.public_url, &room, headers, &original.url());
        (address, original.asked().again())
    } else {
        let asked = Asked::of_us(flows, &parts.method, parts.uri.path());
        (Address::direct(&flows.public_url, &room, headers, query), asked)
    };
    let presented = match PresentedTicket::read(flows, &mut room, headers).await {
        Ok(presented) => presented,
        Err(error) => return busy_or_problem(&room, headers, error.into()),
    };
    if is_forwarded && presented.may_have_stayed_behind(headers) {
        return busy_or_problem(&room, headers, FlowError::WithoutCookie.into());
    }
    let ticket = presented.value();
    // What the authorizer has just refused is refused here, too.
    if is_forwarded
        && ticket.is_some_and(|ticket| admission.authorizer.requests.has_refused(&room, &ticket))
    {
        return Ok(page::limited(&room, headers, 1));
    }
    // A link from anywhere opens the page, and a gateway asks for what its visitor asked of the site.
    let initiator = match Initiator::of(headers, &flows.public_url, &room.binding) {
        Initiator::Foreign if is_forwarded || is_navigation(headers) => Initiator::Untold,
        initiator => initiator,
    };
    let visitor = (room.clone(), presented);
    let request = match VisitorRequest::by(flows, visitor, headers, &asked, initiator) {
        Ok(request) => request,
        Err(problem) => return busy_or_problem(&room, headers, problem),
    };
    // The authorizer has waited for a seat already.
    let held_ms = if is_forwarded { 0 } else { HELD_MS };
    let sender = if wants_json(headers) { Sender::App } else { Sender::Browser };
    let solution = request.solution().by(sender);
    let answered = if wants_page_json(headers) {
        let turn = extractors::turn_of_page(headers, &request.room.snapshot.settings);
        flows.ask(&request.room, ticket, solution, turn, held_ms).await
    } else {
        flows.open_page(&request.room, ticket, solution).await
    };
    let response = match answered {
        Ok(response) => response,
        Err(FlowError::ChallengeRequired(demand)) if !wants_json(headers) => {
            return Ok(admission.pages.challenge(&request.room, headers, &address, &demand));
        }
        Err(error) => return busy_or_problem(&request.room, headers, error.into()),
    };
    let reply = VisitorReply::new(&request, &response);
    if request.in_cloudflares_form {
        Ok(reply.in_cloudflares_form())
    } else if wants_json(headers) {
        Ok(reply.into_response())
    } else {
        Ok(admission.pages.respond(reply, headers, &address).await)
    }
}

/// People see a page that tries again by itself, if trying again can help.
fn busy_or_problem(
    room: &RoomContext,
    headers: &HeaderMap,
    problem: Problem,
) -> Result<Response, Problem> {
    match problem.kind().default_retry_after() {
        Some(seconds) if !wants_json(headers) => Ok(page::busy(room, headers, seconds)),
        _ => Err(problem),
    }
}
