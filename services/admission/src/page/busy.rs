//! Pages for visitors without a status: no place can be given out now, or the room does not exist.

use axum::{
    http::{HeaderMap, StatusCode, header::RETRY_AFTER},
    response::Response,
};
use vestibule_page::{PageFrame, PageState, PageView, render};

use super::{address, language, rendered};
use crate::{
    extractors::wants_page_json,
    flows::{Flows, RoomContext},
};

/// When to ask again about a room that an instance without Redis does not know.
const RETRY_UNKNOWN_SECONDS: u32 = 5;

/// The page of `room` that tries again after so many seconds.
pub(crate) fn busy(room: &RoomContext, headers: &HeaderMap, retry_after_seconds: u32) -> Response {
    let language = language::choose(None, headers, room);
    let frame = PageFrame { is_in_place: true, ..PageFrame::plain(language) };
    let view = PageView {
        room: room.snapshot.room.to_string(),
        refresh_ms: retry_after_seconds.saturating_mul(1000),
        ..PageView::without_visitor(PageState::Busy, room.known.now_ms(), frame)
    };
    try_again(&view, headers, retry_after_seconds)
}

/// The page at the address of an unknown room. While Redis is away the room may exist all the same, so
/// the page tries again.
pub(crate) fn without_room(flows: &Flows, headers: &HeaderMap, query: &str) -> Response {
    let chosen = address::chosen_language(query);
    let language = language::choose_or(chosen.as_deref(), headers, "");
    let view = |state| PageView::without_visitor(state, 0, PageFrame::plain(language));
    if flows.feed.is_connected() {
        return with_status(&view(PageState::NoRoom), headers, StatusCode::NOT_FOUND);
    }
    let refresh_ms = RETRY_UNKNOWN_SECONDS * 1000;
    let view = PageView { refresh_ms, ..view(PageState::Busy) };
    try_again(&view, headers, RETRY_UNKNOWN_SECONDS)
}

fn try_again(view: &PageView, headers: &HeaderMap, retry_after_seconds: u32) -> Response {
    let mut response = with_status(view, headers, StatusCode::SERVICE_UNAVAILABLE);
    response.headers_mut().insert(RETRY_AFTER, retry_after_seconds.into());
    response
}

/// The default page, or its JSON, with this status.
fn with_status(view: &PageView, headers: &HeaderMap, status: StatusCode) -> Response {
    let mut response = if wants_page_json(headers) {
        rendered::json(view)
    } else {
        rendered::html(render(view).ok(), status)
    };
    *response.status_mut() = status;
    response
}
