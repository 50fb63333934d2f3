//! What Envoy asks, as the parts of the HTTP request that it asks about.

use std::net::SocketAddr;

use axum::http::{HeaderName, HeaderValue, Request, header::HOST, request::Parts};
use envoy_types::{
    ext_authz::v3::pb::CheckRequest, pb::envoy::service::auth::v3::attribute_context::HttpRequest,
};
use vestibule_runtime::{
    Peer,
    problem::{Problem, ProblemType},
};

const PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// The HTTP request that `check` describes, with `peer` as the caller.
///
/// # Errors
/// A problem if `check` describes no HTTP request, or an invalid one.
pub(crate) fn parts(check: CheckRequest, peer: Option<SocketAddr>) -> Result<Parts, Problem> {
    let attributes = check.attributes.and_then(|attributes| attributes.request);
    let http = attributes.and_then(|request| request.http);
    let http = http.ok_or_else(|| invalid("call describes no HTTP request"))?;
    let (mut parts, ()) = request(&http)?.into_parts();
    for (name, value) in http.headers {
        // Pseudo headers have fields of their own; values that HTTP does not allow are left out.
        let header = HeaderName::try_from(name).ok().zip(HeaderValue::try_from(value).ok());
        if let Some((name, value)) = header {
            parts.headers.insert(name, value);
        }
    }
    let host = HeaderValue::try_from(http.host)
        .map_err(|_| invalid("host of the request cannot be read"))?;
    parts.headers.insert(HOST, host);
    // Envoy also knows the scheme when no header says it.
    if !parts.headers.contains_key(PROTO) {
        let scheme = HeaderValue::try_from(http.scheme)
            .map_err(|_| invalid("scheme of the request cannot be read"))?;
        parts.headers.insert(PROTO, scheme);
    }
    if let Some(peer) = peer {
        parts.extensions.insert(Peer(peer));
    }
    Ok(parts)
}

fn request(http: &HttpRequest) -> Result<Request<()>, Problem> {
    let request = Request::builder().method(http.method.as_str()).uri(http.path.as_str());
    request.body(()).map_err(|_| invalid("method or path of the request cannot be read"))
}

fn invalid(what: &str) -> Problem {
    Problem::new(ProblemType::InvalidRequest).detail(format!("the {what}"))
}

#[cfg(test)]
mod tests {
    use envoy_types::pb::envoy::service::auth::v3::{AttributeContext, attribute_context};

    use super::*;

    fn check(path: &str, headers: &[(&str, &str)]) -> CheckRequest {
        let http = HttpRequest {
            method: "POST".to_owned(),
            host: "shop.example:8443".to_owned(),
            path: path.to_owned(),
            scheme: "https".to_owned(),
            headers: headers.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
            ..Default::default()
        };
        let request = attribute_context::Request { http: Some(http), ..Default::default() };
        CheckRequest {
            attributes: Some(AttributeContext { request: Some(request), ..Default::default() }),
        }
    }

    #[test]
    fn facts_come_from_envoy_and_not_from_headers() {
        let headers = [
            (":authority", "elsewhere.example"),
            (":path", "/elsewhere"),
            ("host", "elsewhere.example"),
            ("cookie", "a=b"),
        ];
        let parts = parts(check("/sale?x=1", &headers), None).unwrap();
        assert_eq!(parts.method, "POST");
        assert_eq!(parts.uri.path_and_query().unwrap(), "/sale?x=1");
        assert_eq!(parts.headers[HOST], "shop.example:8443");
        assert_eq!(parts.headers["cookie"], "a=b");
        assert_eq!(parts.headers[PROTO], "https");
        assert_eq!(parts.headers.len(), 3);
        assert!(parts.extensions.get::<Peer>().is_none());
    }

    #[test]
    fn what_is_no_request_is_refused() {
        assert!(parts(CheckRequest::default(), None).is_err());
        assert!(parts(check("/a b", &[]), None).is_err());
    }
}
