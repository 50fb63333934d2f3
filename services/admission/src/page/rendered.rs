//! A page that was made, as an HTTP response with its headers.

use axum::{
    body::Body,
    http::{
        HeaderMap, HeaderName, HeaderValue, StatusCode,
        header::{
            CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, VARY,
            X_CONTENT_TYPE_OPTIONS,
        },
    },
    response::{IntoResponse, Response},
};
use vestibule_page::{PAGE_JSON_TYPE, PageContent, PageView, RenderedPage};

const REFRESH: HeaderName = HeaderName::from_static("refresh");

/// What the page shows, for its own script.
pub(super) fn json(view: &PageView) -> Response {
    let mut response = Response::new(Body::from(PageContent::from_view(view).to_json()));
    set_common(response.headers_mut(), HeaderValue::from_static(PAGE_JSON_TYPE));
    response
}

/// The page itself; 500 if `rendered` is `None`, which does not happen because rendering writes to
/// memory.
pub(super) fn html(rendered: Option<RenderedPage>, status: StatusCode) -> Response {
    let Some(rendered) = rendered else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
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

fn set_common(headers: &mut HeaderMap, content_type: HeaderValue) {
    headers.insert(CONTENT_TYPE, content_type);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(VARY, HeaderValue::from_static("Accept, Accept-Language, Cookie"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
}
