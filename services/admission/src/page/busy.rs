//! Pages for visitors without a status: no place can be given out now, the room does not exist, or
//! only the headers are asked for.

use axum::{
    http::{HeaderMap, StatusCode, header::RETRY_AFTER},
    response::{IntoResponse, Response},
};
use vestibule_page::{PageFrame, PageState, PageView, render};
use vestibule_runtime::{Problem, ProblemType};

use super::{address, language, rendered};
use crate::{
    extractors::{is_for_people, wants_page_json},
    flows::RoomContext,
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
    }
    .with_words(&room.snapshot.settings, &room.binding);
    try_again(&view, headers, retry_after_seconds)
}

/// What a session is answered that makes too many requests: to people the page that tries again by itself, to others a
/// problem.
pub(crate) fn limited(
    room: &RoomContext,
    headers: &HeaderMap,
    retry_after_seconds: u32,
) -> Response {
    if !is_for_people(headers) {
        let problem = Problem::new(ProblemType::TooManyRequests);
        return problem.retry_after(retry_after_seconds).into_response();
    }
    let mut response = busy(room, headers, retry_after_seconds);
    *response.status_mut() = StatusCode::TOO_MANY_REQUESTS;
    response
}

/// The page at an address that is no room's, for people; `problem` for everybody else. An instance that does not know
/// which rooms there are says so by a page that tries again.
pub(crate) fn without_room(
    problem: Problem,
    headers: &HeaderMap,
    query: &str,
) -> Result<Response, Problem> {
    if !is_for_people(headers) {
        return Err(problem);
    }
    let chosen = address::chosen_language(query);
    let language = language::choose_or(chosen.as_deref(), headers, "");
    let view = |state| PageView::without_visitor(state, 0, PageFrame::plain(language));
    if problem.kind() != ProblemType::RedisUnavailable {
        return Ok(with_status(&view(PageState::NoRoom), headers, StatusCode::NOT_FOUND));
    }
    let refresh_ms = RETRY_UNKNOWN_SECONDS * 1000;
    let view = PageView { refresh_ms, ..view(PageState::Busy) };
    Ok(try_again(&view, headers, RETRY_UNKNOWN_SECONDS))
}

/// The page of `room` for nobody in particular: whoever asks for its headers alone is not given a
/// place.
pub(crate) fn without_visitor(room: &RoomContext, headers: &HeaderMap) -> Response {
    let frame = PageFrame::plain(language::choose(None, headers, room));
    let view = PageView::without_visitor(PageState::Waiting, room.known.now_ms(), frame);
    with_status(&view, headers, StatusCode::OK)
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
