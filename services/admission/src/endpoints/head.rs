//! `HEAD` of the calls whose `GET` acts for a visitor: it takes no place and no seat, renews nothing
//! and sets no cookie. Status and headers are those that are known without acting.

use std::sync::Arc;

use axum::{
    extract::{RawQuery, State},
    http::{
        HeaderMap,
        header::{CACHE_CONTROL, CONTENT_TYPE},
    },
    response::{IntoResponse, Response},
};
use vestibule_runtime::{extract::Path, problem::Problem};

use crate::{
    extractors::{self, RoomPath, VisitorRequest, wants_json},
    page,
    state::Admission,
};

/// The headers of the waiting page, for someone who may or may not wait.
pub(crate) async fn head_page(
    State(admission): State<Arc<Admission>>,
    RawQuery(query): RawQuery,
    path: Result<Path<RoomPath>, Problem>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let flows = &admission.flows;
    match extractors::room_at(flows, path).await {
        Ok(_) if wants_json(&headers) => Ok(without_content("application/json")),
        Ok(room) => Ok(page::without_visitor(&room, &headers)),
        Err(problem) => page::without_room(problem, &headers, query.as_deref().unwrap_or_default()),
    }
}

/// Whether the status can be asked for.
pub(crate) async fn head_status(request: VisitorRequest) -> Result<Response, Problem> {
    if !request.in_cloudflares_form {
        request.ticket.require()?;
    }
    Ok(without_content("application/json"))
}

/// The headers of live updates.
pub(crate) async fn head_live(_: VisitorRequest) -> Response {
    without_content("text/event-stream")
}

fn without_content(media_type: &'static str) -> Response {
    [(CONTENT_TYPE, media_type), (CACHE_CONTROL, "no-store")].into_response()
}
