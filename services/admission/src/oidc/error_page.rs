//! What a visitor is told whom a site has sent with a request that cannot be: it may not be sent back, because nobody
//! knows yet where to. Nothing of the request is on it.

use axum::{
    http::{
        HeaderMap, HeaderName, HeaderValue, StatusCode,
        header::{
            CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY,
            X_CONTENT_TYPE_OPTIONS,
        },
    },
    response::{IntoResponse, Response},
};
use vestibule_runtime::problem::Problem;

use crate::extractors::is_for_people;

const HEADERS: [(HeaderName, HeaderValue); 5] = [
    (CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
    (CACHE_CONTROL, HeaderValue::from_static("no-store")),
    (
        CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'"),
    ),
    (REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
];

/// `reason`, one of our own texts, on a page for people; `problem` for everybody else.
pub(crate) fn error_page(headers: &HeaderMap, reason: &'static str, problem: Problem) -> Response {
    if !is_for_people(headers) {
        return problem.detail(reason).into_response();
    }
    let status = problem.kind().status();
    let html = page(status, reason);
    (status, HEADERS, html).into_response()
}

fn page(status: StatusCode, reason: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>This link does not work</title>\n\
         <h1>This link does not work</h1>\n\
         <p>The site that sent you here has not asked for it in a way that can be answered. Go back, and try again \
         from there.</p>\n<p>For the people of that site: {}, {reason}.</p>\n</html>\n",
        status.as_u16()
    )
}
