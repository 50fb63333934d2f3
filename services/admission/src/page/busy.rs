//! The page of someone who cannot be given a place for now: it tries again by itself.

use axum::{
    http::{HeaderMap, StatusCode, header::RETRY_AFTER},
    response::Response,
};
use vestibule_domain::QueueingMethod;
use vestibule_page::{Frame, Notices, State, View, render};

use super::{language, rendered};
use crate::{extractors::wants_page_json, flows::RoomContext};

/// The page of `room` that tries again after so many seconds.
pub(crate) fn busy(room: &RoomContext, headers: &HeaderMap, retry_after_seconds: u32) -> Response {
    let view = busy_view(room, headers, retry_after_seconds);
    let mut response = if wants_page_json(headers) {
        rendered::json(&view)
    } else {
        rendered::html(render(&view).ok(), StatusCode::SERVICE_UNAVAILABLE)
    };
    *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    response.headers_mut().insert(RETRY_AFTER, retry_after_seconds.into());
    response
}

fn busy_view(room: &RoomContext, headers: &HeaderMap, retry_after_seconds: u32) -> View {
    let now_ms = room.known.now_ms();
    let language = language::choose(None, headers, room);
    View {
        room: room.snapshot.room.to_string(),
        state: State::Busy,
        method: QueueingMethod::Fifo,
        queue_all: false,
        event: None,
        position: None,
        people_ahead: None,
        wait_seconds: None,
        quartiles: None,
        waited_seconds: None,
        now_ms,
        updated_ms: now_ms,
        checked_in_ms: 0,
        interval_ms: 0,
        refresh_ms: retry_after_seconds.saturating_mul(1000),
        hold_seconds: None,
        grace_seconds: None,
        notices: Notices::default(),
        frame: Frame { is_in_place: true, ..Frame::plain(language) },
    }
}
