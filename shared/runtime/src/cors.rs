//! CORS for public APIs: any page may call, errors included.
//!
//! Every answer says `*`; an answer to `OPTIONS` lists what is allowed and reaches no handler. No
//! credentials: between origins a ticket is sent in the `Vestibule-Ticket` header. This is not
//! tower-http's layer, because that one leaves `Access-Control-Expose-Headers` out of preflights.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use axum::{
    http::{
        HeaderMap, HeaderValue, Method, Request,
        header::{
            ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS,
            ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE,
            ORIGIN,
        },
    },
    response::Response,
};
use pin_project_lite::pin_project;
use tower::{Layer, Service};

/// Methods that a preflight allows.
pub const ALLOW_METHODS: &str = "GET,POST,OPTIONS";

/// Request headers that a preflight allows: the AWS reference's, and the ticket.
pub const ALLOW_HEADERS: &str =
    "Content-Type,X-Amz-Date,Authorization,X-Api-Key,X-Amz-Security-Token,Vestibule-Ticket";

/// Answer headers that a page may read.
pub const EXPOSE_HEADERS: &str = "Vestibule-Ticket,Retry-After";

/// How long a browser may remember a preflight, in seconds: a day.
pub const MAX_AGE_SECONDS: &str = "86400";

/// The layer.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cors;

/// A service open to pages of any origin.
#[derive(Debug, Clone)]
pub struct CrossOrigin<S> {
    inner: S,
}

pin_project! {
    /// The inner answer with the headers, or the answer to a preflight.
    #[derive(Debug)]
    pub struct CrossOriginFuture<F> {
        // None: a preflight, which no handler sees.
        #[pin]
        inner: Option<F>,
        // Whether a page of another origin may be asking: only then is there something to expose.
        has_origin: bool,
    }
}

// === impl Cors ===

impl<S> Layer<S> for Cors {
    type Service = CrossOrigin<S>;

    fn layer(&self, inner: S) -> Self::Service {
        CrossOrigin { inner }
    }
}

// === impl CrossOrigin ===

impl<S, B> Service<Request<B>> for CrossOrigin<S>
where
    S: Service<Request<B>, Response = Response>,
{
    type Response = Response;
    type Error = S::Error;
    type Future = CrossOriginFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let preflight = request.method() == Method::OPTIONS;
        let has_origin = request.headers().contains_key(ORIGIN);
        let inner = (!preflight).then(|| self.inner.call(request));
        CrossOriginFuture { inner, has_origin }
    }
}

// === impl CrossOriginFuture ===

impl<F, E> Future for CrossOriginFuture<F>
where
    F: Future<Output = Result<Response, E>>,
{
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let Some(inner) = this.inner.as_pin_mut() else {
            return Poll::Ready(Ok(preflight()));
        };
        let mut response = ready!(inner.poll(cx))?;
        open(response.headers_mut(), *this.has_origin);
        Poll::Ready(Ok(response))
    }
}

fn open(headers: &mut HeaderMap, has_origin: bool) {
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    if has_origin {
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSE_HEADERS));
    }
}

fn preflight() -> Response {
    let mut response = Response::default();
    let headers = response.headers_mut();
    open(headers, true);
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(ALLOW_METHODS));
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(ALLOW_HEADERS));
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static(MAX_AGE_SECONDS));
    response
}

#[cfg(test)]
mod tests {
    use axum::{
        Router,
        body::Body,
        http::{StatusCode, header::ALLOW},
        routing::get,
    };
    use tower::ServiceExt;

    use super::*;
    use crate::problem::ProblemType;

    async fn send(method: Method, path: &str) -> Response {
        let router = Router::new()
            .route("/", get(async || "ok"))
            .route("/broken", get(async || ProblemType::Internal))
            .layer(Cors);
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(ORIGIN, "https://shop.example")
            .body(Body::empty())
            .unwrap();
        router.oneshot(request).await.unwrap()
    }

    #[tokio::test]
    async fn every_answer_is_open_errors_included() {
        let cases = [
            (Method::GET, "/", StatusCode::OK),
            (Method::GET, "/broken", StatusCode::INTERNAL_SERVER_ERROR),
            (Method::GET, "/nowhere", StatusCode::NOT_FOUND),
            (Method::PUT, "/", StatusCode::METHOD_NOT_ALLOWED),
            (Method::OPTIONS, "/", StatusCode::OK),
            (Method::OPTIONS, "/nowhere", StatusCode::OK),
        ];
        for (method, path, status) in cases {
            let response = send(method.clone(), path).await;
            assert_eq!(response.status(), status, "{method} {path}");
            let headers = response.headers();
            assert_eq!(headers[ACCESS_CONTROL_ALLOW_ORIGIN], "*", "{method} {path}");
            assert_eq!(headers[ACCESS_CONTROL_EXPOSE_HEADERS], "Vestibule-Ticket,Retry-After");
        }
    }

    #[tokio::test]
    async fn a_preflight_says_what_is_allowed() {
        let response = send(Method::OPTIONS, "/").await;
        let headers = response.headers();
        assert_eq!(headers[ACCESS_CONTROL_ALLOW_METHODS], "GET,POST,OPTIONS");
        assert_eq!(
            headers[ACCESS_CONTROL_ALLOW_HEADERS],
            "Content-Type,X-Amz-Date,Authorization,X-Api-Key,X-Amz-Security-Token,Vestibule-Ticket"
        );
        assert_eq!(headers[ACCESS_CONTROL_MAX_AGE], "86400");
    }

    #[tokio::test]
    async fn other_answers_do_not_repeat_the_preflight() {
        let response = send(Method::PUT, "/").await;
        assert!(!response.headers().contains_key(ACCESS_CONTROL_ALLOW_METHODS));
        assert_eq!(response.headers()[ALLOW], "GET,HEAD");
    }
}
