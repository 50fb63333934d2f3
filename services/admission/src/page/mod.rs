//! The waiting page, served: in the place of the page that was wanted, or at its own address, as
//! HTML for people and as JSON updates for the page's own script. What is shown is made by
//! `vestibule-page`; here it is put together from a visitor's answer, and sent with its headers.

mod address;
mod branding_cache;
mod language;
mod live;
mod view;

use std::sync::Arc;

use axum::{
    body::Body,
    http::{
        HeaderMap, HeaderName, HeaderValue, StatusCode,
        header::{
            ACCEPT, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY,
            RETRY_AFTER, VARY, X_CONTENT_TYPE_OPTIONS,
        },
    },
    response::Response,
};
use vestibule_domain::site::CookieKind;
use vestibule_page::{
    CustomPage, PAGE_JSON_TYPE, PageContent, PageFrame, PageState, PageView, RenderedPage, render,
};

use self::view::{Hold, Shows};
pub(crate) use self::{
    address::{Address, NO_SEAT},
    branding_cache::{BrandingCache, RoomBranding},
    live::{LiveStreams, Watcher},
};
use crate::{
    state::Admission,
    visitor::{Carrier, RoomContext, VisitorResponse},
};

/// When to ask again about a room that an instance without Redis does not know.
const RETRY_UNKNOWN_SECONDS: u32 = 5;

const REFRESH: HeaderName = HeaderName::from_static("refresh");

/// The page in the place of the page at `wanted`, with every header. The gateway wants another
/// status than a 2xx; that is the caller's.
pub(crate) async fn in_place(
    admission: &Arc<Admission>,
    context: &RoomContext,
    answer: &VisitorResponse,
    headers: &HeaderMap,
    wanted: &str,
) -> Response {
    let address = Address::in_place(admission, context, headers, wanted);
    respond(admission, context, answer, headers, &address).await
}

/// The page at `address` for the visitor who is answered `answer`.
pub(crate) async fn respond(
    admission: &Arc<Admission>,
    context: &RoomContext,
    answer: &VisitorResponse,
    headers: &HeaderMap,
    address: &Address,
) -> Response {
    let looks = admission.brandings.get(context);
    let hold = view::hold(admission, context, answer, headers).await;
    let is_update = wants_page_json(headers);
    // Who comes to the site itself when it is its turn has asked to enter.
    let has_claimed = address.is_in_place && !is_update;
    let looks = &*looks;
    let shows = Shows { context, answer, headers, address, looks, hold, has_claimed };
    let view = shows.view();
    let mut response =
        if is_update { update_of(&view) } else { page_of(admission, context, looks, &view) };
    if address.language_is_chosen {
        language::remember(address.language, context, response.headers_mut());
    }
    hand_over(context, answer, response.headers_mut());
    response
}

/// What the visitor would see now, without counting it as a check-in: for live updates.
pub(crate) fn glimpse(
    context: &RoomContext,
    answer: &VisitorResponse,
    headers: &HeaderMap,
    address: &Address,
) -> PageView {
    let looks = &RoomBranding::default();
    let (hold, has_claimed) = (Hold::default(), false);
    Shows { context, answer, headers, address, looks, hold, has_claimed }.view()
}

/// The page of someone who cannot be given a place for now: it tries again by itself.
pub(crate) fn busy(
    context: &RoomContext,
    headers: &HeaderMap,
    retry_after_seconds: u32,
) -> Response {
    try_again(&busy_view(context, headers, retry_after_seconds), headers, retry_after_seconds)
}

/// The page at an address of a room that does not exist. An instance that cannot reach Redis does
/// not know that: its page tries again.
pub(crate) fn without_room(admission: &Admission, headers: &HeaderMap, query: &str) -> Response {
    let chosen = address::chosen_language(query);
    let language = language::choose_or(chosen.as_deref(), headers, "");
    let view = |state| PageView::without_visitor(state, 0, PageFrame::plain(language));
    if admission.feed.is_connected() {
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

/// The default page, or its update, with this status.
fn with_status(view: &PageView, headers: &HeaderMap, status: StatusCode) -> Response {
    let mut response =
        if wants_page_json(headers) { update_of(view) } else { html(render(view).ok(), status) };
    *response.status_mut() = status;
    response
}

/// Whether a person is to read the answer: the request is a browser's, or the page's own script's.
pub(crate) fn is_for_people(headers: &HeaderMap) -> bool {
    let accept = headers.get(ACCEPT).and_then(|accept| accept.to_str().ok());
    wants_page_json(headers) || accept.is_some_and(|accept| accept.contains("text/html"))
}

/// Whether the page's own script asks.
pub(crate) fn wants_page_json(headers: &HeaderMap) -> bool {
    headers.get(ACCEPT).is_some_and(|accept| accept == PAGE_JSON_TYPE)
}

fn update_of(view: &PageView) -> Response {
    let mut response = Response::new(Body::from(PageContent::from_view(view).to_json()));
    set_common(response.headers_mut(), HeaderValue::from_static(PAGE_JSON_TYPE));
    response
}

/// The operator's own page if there is one that works, else the default one.
fn page_of(
    admission: &Admission,
    context: &RoomContext,
    looks: &RoomBranding,
    view: &PageView,
) -> Response {
    let custom = looks.page.as_ref().filter(|_| CustomPage::is_for(view));
    let own = custom.and_then(|page| match page.render(view) {
        Ok(rendered) => Some(rendered),
        Err(problem) => {
            admission.brandings.failed(&context.snapshot.room, &problem);
            None
        }
    });
    let waits = view.state.is_in_line() || matches!(view.state, PageState::TurnedAway { .. });
    let status = StatusCode::from_u16(context.binding.queueing_status_code).ok().filter(|_| waits);
    html(own.or_else(|| render(view).ok()), status.unwrap_or(StatusCode::OK))
}

fn html(rendered: Option<RenderedPage>, status: StatusCode) -> Response {
    let Some(rendered) = rendered else {
        return error();
    };
    let mut response = Response::new(Body::from(rendered.html));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    set_common(headers, HeaderValue::from_static("text/html; charset=utf-8"));
    if let Ok(policy) = HeaderValue::from_str(&rendered.policy) {
        headers.insert(CONTENT_SECURITY_POLICY, policy);
    }
    if let Some(seconds) = rendered.refresh_seconds {
        headers.insert(REFRESH, seconds.into());
    }
    response
}

/// Writing a page to memory does not fail.
fn error() -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
    response
}

fn set_common(headers: &mut HeaderMap, content_type: HeaderValue) {
    headers.insert(CONTENT_TYPE, content_type);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(VARY, HeaderValue::from_static("Accept, Accept-Language, Cookie"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
}

/// The ticket goes into the browser's cookie, however it came: a gateway may have passed it on in
/// a header. So does the token, for gateways that verify it by themselves.
pub(crate) fn hand_over(context: &RoomContext, answer: &VisitorResponse, headers: &mut HeaderMap) {
    VisitorResponse { carrier: Carrier::Cookie, ..answer.clone() }.hand_over(headers);
    if context.binding.access_token_cookie
        && let Some(token) = &answer.body.access_token
    {
        let age = answer.body.expires_in.unwrap_or(0);
        answer.cookies().set(headers, CookieKind::Token, token, age);
    }
}

fn busy_view(context: &RoomContext, headers: &HeaderMap, retry_after_seconds: u32) -> PageView {
    let language = language::choose(None, headers, context);
    let frame = PageFrame { is_in_place: true, ..PageFrame::plain(language) };
    PageView {
        room: context.snapshot.room.to_string(),
        refresh_ms: retry_after_seconds.saturating_mul(1000),
        ..PageView::without_visitor(PageState::Busy, context.known.now_ms(), frame)
    }
}
