//! The authorizer's HTTP response as Envoy's `CheckResponse`.

use axum::{
    body::{Body, to_bytes},
    http::{
        HeaderMap, HeaderName, Response, StatusCode,
        header::{CONTENT_LENGTH, SET_COOKIE},
    },
};
use envoy_types::{
    ext_authz::v3::{
        CheckResponseExt,
        pb::{CheckResponse, DeniedHttpResponse, HttpStatus, OkHttpResponse},
    },
    pb::envoy::config::core::v3::{
        HeaderValue, HeaderValueOption, header_value_option::HeaderAppendAction,
    },
};
use tonic::Status;

const TOKEN: HeaderName = HeaderName::from_static("vestibule-token");
/// Headers that only this service may set. They are removed from the visitor's request before it
/// reaches the site.
const OURS: [&str; 6] = [
    "vestibule-token",
    "vestibule-ticket",
    "vestibule-room",
    "vestibule-rule",
    "vestibule-decision",
    "vestibule-command",
];

/// `response` for Envoy: 200 lets the request pass; any other response goes to the visitor, with
/// `status` instead of its own status if given.
pub(super) async fn from_http(response: Response<Body>, status: Option<u16>) -> CheckResponse {
    let (parts, body) = response.into_parts();
    if parts.status == StatusCode::OK {
        return passes(&parts.headers);
    }
    // The body is in memory already, so reading it cannot fail and needs no limit.
    let body = to_bytes(body, usize::MAX).await.unwrap_or_default();
    let denied = DeniedHttpResponse {
        status: Some(HttpStatus { code: status.unwrap_or(parts.status.as_u16()).into() }),
        headers: options(&parts.headers, |name| *name != CONTENT_LENGTH),
        body: String::from_utf8_lossy(&body).into_owned(),
    };
    let mut response = CheckResponse::with_status(Status::permission_denied("waits"));
    response.set_http_response(denied);
    response
}

/// To the site: the token. To the visitor: the cookies.
fn passes(headers: &HeaderMap) -> CheckResponse {
    // Envoy removes headers after it has set some, so a header that is set must not be listed.
    let removed = OURS.iter().filter(|name| **name != TOKEN || !headers.contains_key(TOKEN));
    let passes = OkHttpResponse {
        headers_to_remove: removed.map(|name| (*name).to_owned()).collect(),
        headers: options(headers, |name| *name == TOKEN),
        response_headers_to_add: options(headers, |name| *name == SET_COOKIE),
        ..Default::default()
    };
    let mut response = CheckResponse::with_status(Status::ok(""));
    response.set_http_response(passes);
    response
}

fn options(headers: &HeaderMap, wanted: impl Fn(&HeaderName) -> bool) -> Vec<HeaderValueOption> {
    let wanted = headers.iter().filter(|(name, _)| wanted(name));
    wanted.map(|(name, value)| option(name, value.to_str().unwrap_or_default())).collect()
}

fn option(name: &HeaderName, value: &str) -> HeaderValueOption {
    // The visitor's own header of this name is replaced; cookies are added, as there may be several.
    let action = if *name == SET_COOKIE {
        HeaderAppendAction::AppendIfExistsOrAdd
    } else {
        HeaderAppendAction::OverwriteIfExistsOrAdd
    };
    HeaderValueOption {
        header: Some(HeaderValue {
            key: name.to_string(),
            value: value.to_owned(),
            ..Default::default()
        }),
        append_action: action.into(),
        ..Default::default()
    }
}

#[cfg(test)]
mod tests {
    use envoy_types::ext_authz::v3::pb::HttpResponse;

    use super::*;

    fn response(status: u16) -> Response<Body> {
        let response = Response::builder().status(status).header("vestibule-token", "a.b.c");
        let response = response.header("set-cookie", "a=1").header("set-cookie", "b=2");
        response.header("vestibule-decision", "x").body(Body::from("page")).unwrap()
    }

    fn names(options: &[HeaderValueOption]) -> Vec<&str> {
        options.iter().map(|option| option.header.as_ref().unwrap().key.as_str()).collect()
    }

    #[tokio::test]
    async fn who_passes_gets_cookies_and_the_site_gets_the_token() {
        let answer = from_http(response(200), Some(202)).await;
        assert_eq!(answer.status.unwrap().code, 0);
        let Some(HttpResponse::OkResponse(passes)) = answer.http_response else { panic!() };
        assert_eq!(names(&passes.headers), ["vestibule-token"]);
        assert_eq!(names(&passes.response_headers_to_add), ["set-cookie", "set-cookie"]);
        assert_eq!(passes.headers_to_remove, OURS[1..]);
    }

    #[tokio::test]
    async fn who_waits_gets_everything_with_the_status_of_the_room() {
        let answer = from_http(response(503), Some(200)).await;
        assert_ne!(answer.status.unwrap().code, 0);
        let Some(HttpResponse::DeniedResponse(denied)) = answer.http_response else { panic!() };
        assert_eq!((denied.status.unwrap().code, denied.body.as_str()), (200, "page"));
        assert_eq!(denied.headers.len(), 4);
    }
}
