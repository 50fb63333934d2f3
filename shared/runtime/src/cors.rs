//! CORS for public APIs: any page may call, errors included.
//!
//! Every answer says `*`, but for those that are [`NotForPages`]; an answer to `OPTIONS` lists what is allowed and reaches no handler. Credentials
//! may be sent only by the origins that the service knows; others send a ticket in the `Vestibule-Ticket`
//! header. This is not tower-http's layer, because that one leaves `Access-Control-Expose-Headers` out of
//! preflights. Whether a cookie is believed is not decided here.

use std::{
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use axum::{
    http::{
        HeaderMap, HeaderValue, Method, Request,
        header::{
            ACCESS_CONTROL_ALLOW_CREDENTIALS, ACCESS_CONTROL_ALLOW_HEADERS,
            ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
            ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ORIGIN, VARY,
        },
    },
    response::Response,
};
use pin_project_lite::pin_project;
use tower::{Layer, Service};

/// Methods that a preflight allows.
pub const ALLOW_METHODS: &str = "GET,POST,OPTIONS";

/// Request headers that a preflight allows: the AWS reference's, the ticket, a solution, and the proof of a key.
pub const ALLOW_HEADERS: &str = "Content-Type,X-Amz-Date,Authorization,X-Api-Key,\
     X-Amz-Security-Token,Vestibule-Ticket,Vestibule-Challenge,DPoP";

/// Answer headers that a page may read.
pub const EXPOSE_HEADERS: &str = "Vestibule-Ticket,Retry-After";

/// How long a browser may remember a preflight, in seconds: a day.
pub const MAX_AGE_SECONDS: &str = "86400";

/// In the extensions of an answer: no page of another origin may read it, so it gets none of these headers.
#[derive(Debug, Clone, Copy)]
pub struct NotForPages;

/// Whether pages of an origin may send credentials to a path.
type CredentialsRule = dyn Fn(&str, &HeaderValue) -> bool + Send + Sync;

/// The layer. By default no origin may send credentials.
#[derive(Clone, Default)]
pub struct Cors {
    credentials: Option<Arc<CredentialsRule>>,
}

/// A service open to pages of any origin.
#[derive(Debug, Clone)]
pub struct CrossOrigin<S> {
    inner: S,
    cors: Cors,
}

pin_project! {
    /// The inner answer with the headers, or the answer to a preflight.
    #[derive(Debug)]
    pub struct CrossOriginFuture<F> {
        // None: a preflight, which no handler sees.
        #[pin]
        inner: Option<F>,
        asks: Asks,
    }
}

/// Whose page asks.
#[derive(Debug)]
enum Asks {
    /// None of another origin: there is nothing to expose.
    Own,
    /// One that may be of another origin.
    Any,
    /// One of this origin, which may send credentials.
    Known(HeaderValue),
}

// === impl Cors ===

impl Cors {
    /// Pages of those origins may send credentials for which `rule` holds, given the path and the origin.
    pub fn with_credentials(
        rule: impl Fn(&str, &HeaderValue) -> bool + Send + Sync + 'static,
    ) -> Self {
        Self { credentials: Some(Arc::new(rule)) }
    }

    fn asks<B>(&self, request: &Request<B>) -> Asks {
        let Some(origin) = request.headers().get(ORIGIN) else { return Asks::Own };
        let path = request.uri().path();
        match &self.credentials {
            Some(rule) if rule(path, origin) => Asks::Known(origin.clone()),
            _ => Asks::Any,
        }
    }
}

impl fmt::Debug for Cors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cors").finish_non_exhaustive()
    }
}

impl<S> Layer<S> for Cors {
    type Service = CrossOrigin<S>;

    fn layer(&self, inner: S) -> Self::Service {
        CrossOrigin { inner, cors: self.clone() }
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
        let asks = self.cors.asks(&request);
        let inner = (!preflight).then(|| self.inner.call(request));
        CrossOriginFuture { inner, asks }
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
            return Poll::Ready(Ok(preflight(this.asks)));
        };
        let mut response = ready!(inner.poll(cx))?;
        if response.extensions().get::<NotForPages>().is_none() {
            open(response.headers_mut(), this.asks);
        }
        Poll::Ready(Ok(response))
    }
}

fn open(headers: &mut HeaderMap, asks: &Asks) {
    let allowed = match asks {
        Asks::Own | Asks::Any => HeaderValue::from_static("*"),
        Asks::Known(origin) => {
            headers.insert(ACCESS_CONTROL_ALLOW_CREDENTIALS, HeaderValue::from_static("true"));
            headers.append(VARY, HeaderValue::from_static("origin"));
            origin.clone()
        }
    };
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, allowed);
    if !matches!(asks, Asks::Own) {
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSE_HEADERS));
    }
}

fn preflight(asks: &Asks) -> Response {
    let mut response = Response::default();
    let headers = response.headers_mut();
    // Also where no origin is named: what a preflight says is for pages of other origins.
    open(headers, if matches!(asks, Asks::Own) { &Asks::Any } else { asks });
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(ALLOW_METHODS));
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(ALLOW_HEADERS));
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static(MAX_AGE_SECONDS));
    response
}

#[cfg(test)]
mod tests {
    use axum::{
        Extension, Router,
        body::Body,
        http::{StatusCode, header::ALLOW},
        routing::get,
    };
    use tower::ServiceExt;

    use super::*;
    use crate::problem::ProblemType;

    const KNOWN: &str = "https://known.example";

    async fn send(method: Method, path: &str) -> Response {
        send_from("https://shop.example", method, path).await
    }

    async fn send_from(origin: &'static str, method: Method, path: &str) -> Response {
        let router = Router::new()
            .route("/", get(async || "ok"))
            .route("/broken", get(async || ProblemType::Internal))
            .route("/hidden", get(async || Extension(NotForPages)))
            .layer(Cors::with_credentials(|path, origin| path == "/" && origin == KNOWN));
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(ORIGIN, origin)
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
            assert!(!headers.contains_key(ACCESS_CONTROL_ALLOW_CREDENTIALS), "{method} {path}");
        }
    }

    #[tokio::test]
    async fn what_is_not_for_pages_is_closed_to_them_and_its_preflight_open() {
        let answer = send(Method::GET, "/hidden").await;
        assert!(!answer.headers().contains_key(ACCESS_CONTROL_ALLOW_ORIGIN));
        assert!(!answer.headers().contains_key(ACCESS_CONTROL_EXPOSE_HEADERS));
        let preflight = send(Method::OPTIONS, "/hidden").await;
        assert_eq!(preflight.headers()[ACCESS_CONTROL_ALLOW_ORIGIN], "*");
    }

    #[tokio::test]
    async fn only_a_known_origin_may_send_credentials() {
        for method in [Method::GET, Method::OPTIONS] {
            let response = send_from(KNOWN, method.clone(), "/").await;
            let headers = response.headers();
            assert_eq!(headers[ACCESS_CONTROL_ALLOW_ORIGIN], KNOWN, "{method}");
            assert_eq!(headers[ACCESS_CONTROL_ALLOW_CREDENTIALS], "true", "{method}");
            assert_eq!(headers[VARY], "origin", "{method}");
        }
        let elsewhere = send_from(KNOWN, Method::GET, "/broken").await;
        assert_eq!(elsewhere.headers()[ACCESS_CONTROL_ALLOW_ORIGIN], "*");
    }

    #[tokio::test]
    async fn a_preflight_says_what_is_allowed() {
        let response = send(Method::OPTIONS, "/").await;
        let headers = response.headers();
        assert_eq!(headers[ACCESS_CONTROL_ALLOW_METHODS], "GET,POST,OPTIONS");
        assert_eq!(
            headers[ACCESS_CONTROL_ALLOW_HEADERS],
            "Content-Type,X-Amz-Date,Authorization,X-Api-Key,X-Amz-Security-Token,Vestibule-Ticket,\
             Vestibule-Challenge,DPoP"
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
