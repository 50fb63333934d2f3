//! `GET /room/{room}/live`: live updates of the waiting page.

use std::sync::Arc;

use axum::{
    extract::{RawQuery, State},
    http::{HeaderMap, HeaderValue, StatusCode, header::CACHE_CONTROL},
    response::{IntoResponse, Response},
};
use vestibule_runtime::problem::Problem;

use crate::{
    endpoints::responses::RoomRefusals,
    extractors::{RoomPath, VisitorRequest},
    page::Watcher,
    state::Admission,
};

/// Watch the line
///
/// Server-sent events for the waiting page's script: what the page shows, as JSON, whenever it has
/// changed, about once a second at most. Polls go on beside it: only they count as check-ins. The
/// stream ends after some minutes; a browser then asks for another one.
#[utoipa::path(
    get, path = "/room/{room}/live", operation_id = "get_live", tag = "page",
    params(
        RoomPath,
        ("return" = Option<String>, Query, description = "As for the page"),
        ("lang" = Option<String>, Query, description = "As for the page"),
    ),
    responses(
        (status = 200, description = "Events; their data is what the page shows", content_type = "text/event-stream"),
        (status = 204, description = "There is nothing to watch: no place in line. A browser does not ask again"),
        (status = 429, description = "The visitor has four streams at this instance already; its page polls", body = Problem, content_type = "application/problem+json"),
        RoomRefusals,
    )
)]
pub(crate) async fn get_live(
    State(admission): State<Arc<Admission>>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    request: VisitorRequest,
) -> Result<Response, Problem> {
    let ticket = request.ticket.known()?.filter(|ticket| ticket.state.is_in_line());
    let Some(ticket) = ticket else { return Ok(StatusCode::NO_CONTENT.into_response()) };
    let query = query.unwrap_or_default();
    let watcher = Watcher::new(&admission.pages, request.room, ticket, &headers, &query)?;
    let mut response = watcher.into_stream().into_response();
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // nginx would hold the events back.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    Ok(response)
}
