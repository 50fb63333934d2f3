//! `GET /room/{room}`: the waiting page.

use std::sync::Arc;

use axum::{
    extract::{Path, RawQuery, Request, State},
    response::{IntoResponse, Response},
};
use vestibule_runtime::problem::Problem;

use super::{join_room::join, renew_session::renew_session};
use crate::{
    authorizer::OriginalRequest,
    page::{self, Address},
    state::Admission,
    visitor::{
        RoomContext, VisitorRequest, VisitorResponder, VisitorResponse,
        cloudflare::{self, wants_json},
    },
};

/// Show the waiting page
///
/// For browsers. A newcomer gets a place; whoever's turn it is gets a button, and enters only by
/// it: through the gateway in front of the wanted page, or, where there is none, by
/// `POST /room/{room}/enter`. The page asks for updates by itself, with or without script.
///
/// A trusted proxy that tells the original request (`X-Forwarded-Uri`, as nginx's `error_page`
/// does) gets the page for the place of that request.
#[utoipa::path(
    get, path = "/room/{room}", operation_id = "get_page", tag = "page",
    params(
        ("room" = String, Path, description = "The room"),
        ("return" = Option<String>, Query, description = "The page that is wanted: a path, or an address of a host that the room covers; anything else is ignored"),
        ("lang" = Option<String>, Query, description = "The language; remembered in the cookie `vestibule_lang`"),
    ),
    responses(
        (status = 200, description = "The page; for `Accept: application/vnd.vestibule.page+json` what it shows, as JSON; for exactly `application/json` where the visitor stands. While the visitor waits the status is the room's `queueing_status_code`",
            content_type = "text/html"),
        (status = 404, description = "No such room: a page that says so for browsers, a problem for others", body = Problem),
        (status = 503, description = "Busy: a page that tries again by itself"),
    )
)]
pub(crate) async fn get_page(
    State(admission): State<Arc<Admission>>,
    Path(room): Path<String>,
    RawQuery(query): RawQuery,
    request: Request,
) -> Result<Response, Problem> {
    let (parts, _) = request.into_parts();
    let headers = &parts.headers;
    let query = query.as_deref().unwrap_or_default();
    let mut context = match RoomContext::for_room(&admission, &room) {
        Err(_) if page::is_for_people(headers) => {
            return Ok(page::without_room(&admission, headers, query));
        }
        found => found?,
    };
    let address = if OriginalRequest::is_forwarded(&parts, &admission.proxies) {
        let original = OriginalRequest::forwarded(&parts, &admission.proxies)?;
        context.https = original.https;
        Address::in_place(&admission, &context, headers, &original.url())
    } else {
        Address::direct(&admission, &context, headers, query)
    };
    let caller = VisitorRequest::new(context.clone(), headers);
    let asks_for_form = caller.in_cloudflares_form;
    let answered = if page::wants_page_json(headers) {
        tell(&admission, caller).await
    } else {
        join(&admission, caller).await
    };
    match answered {
        Ok(answer) if asks_for_form => {
            let now_ms = context.known.now_ms();
            Ok(cloudflare::respond(&answer, &context.known.snapshot(), now_ms))
        }
        Ok(answer) if wants_json(headers) => Ok(answer.into_response()),
        Ok(answer) => Ok(page::respond(&admission, &context, &answer, headers, &address).await),
        Err(problem) => match problem.kind().default_retry_after() {
            Some(seconds) if !wants_json(headers) => Ok(page::busy(&context, headers, seconds)),
            _ => Err(problem),
        },
    }
}

/// Tells the page's own script how the visitor stands. Unlike joining, it gives no new place to
/// someone who has lost the old one: that is told first.
///
/// # Errors
/// When the store is needed and away.
pub(crate) async fn tell(
    admission: &Arc<Admission>,
    caller: VisitorRequest,
) -> Result<VisitorResponse, Problem> {
    if caller.ticket.is_err() {
        return join(admission, caller).await;
    }
    let (context, carrier, (ticket, text)) = caller.with_ticket()?;
    match ticket.seat {
        Some(seat) => renew_session(admission, &context, carrier, ticket, seat).await,
        None => VisitorResponder::new(admission, &context, carrier).looks((ticket, Some(text))),
    }
}
