//! The span of a request: a layer that begins it, if it is to be recorded.
//!
//! A caller's `traceparent` counts only if the caller is a trusted proxy: what visitors send says nothing. It never holds
//! an address, a path or a query, a ticket or a token: the route stands for them.

use std::{
    net::IpAddr,
    pin::Pin,
    task::{Context, Poll, ready},
};

use axum::{
    extract::MatchedPath,
    http::{HeaderMap, Method, Request},
    response::Response,
};
use pin_project_lite::pin_project;
use tower::{Layer, Service};
use vestibule_traces::{InSpan, KeyValue, Span, SpanBuilder, SpanKind, Traces, note, spanned};

use super::parent::parent;
use crate::{Peer, ProblemType, TrustedProxies};

/// Begins the spans of requests. Cloning is cheap.
#[derive(Debug, Clone)]
pub struct RequestTraces {
    traces: Traces,
    proxies: TrustedProxies,
}

/// A service whose requests are recorded.
#[derive(Debug, Clone)]
pub struct Recorded<S> {
    inner: S,
    traces: RequestTraces,
}

pin_project! {
    /// Notes in the request's span how it was answered.
    #[derive(Debug)]
    pub struct Noting<F> {
        #[pin]
        inner: F,
    }
}

// === impl RequestTraces ===

impl RequestTraces {
    /// Records by `traces`, and believes the `proxies` whose trace a request is part of.
    #[must_use]
    pub fn new(traces: Traces, proxies: TrustedProxies) -> Self {
        Self { traces, proxies }
    }

    /// Records nothing.
    #[must_use]
    pub fn off() -> Self {
        Self::new(Traces::off(), TrustedProxies::new(&[]))
    }

    /// Begins the span of a request by `peer`, if it is to be recorded.
    pub fn begin(
        &self,
        peer: Option<IpAddr>,
        headers: &HeaderMap,
        describe: impl FnOnce() -> SpanBuilder,
    ) -> Option<Span> {
        if !self.traces.are_on() {
            return None;
        }
        let is_believed = peer.is_some_and(|peer| self.proxies.contains(peer));
        let parent = if is_believed { parent(headers) } else { None };
        self.traces.begin(parent, describe)
    }

    fn begin_http<B>(&self, request: &Request<B>) -> Option<Span> {
        if !self.traces.are_on() {
            return None;
        }
        let peer = Peer::current().map(|Peer(peer)| peer.ip());
        self.begin(peer, request.headers(), || {
            describe(request.method(), request.extensions().get::<MatchedPath>())
        })
    }
}

impl<S> Layer<S> for RequestTraces {
    type Service = Recorded<S>;

    fn layer(&self, inner: S) -> Self::Service {
        Recorded { inner, traces: self.clone() }
    }
}

// === impl Recorded ===

impl<S, B> Service<Request<B>> for Recorded<S>
where
    S: Service<Request<B>, Response = Response>,
{
    type Response = Response;
    type Error = S::Error;
    type Future = InSpan<Noting<S::Future>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let span = self.traces.begin_http(&request);
        spanned(span, Noting { inner: self.inner.call(request) })
    }
}

// === impl Noting ===

impl<F, E> Future for Noting<F>
where
    F: Future<Output = Result<Response, E>>,
{
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let result = ready!(self.project().inner.poll(cx));
        if let Ok(response) = &result {
            note(|span| note_answer(span, response));
        }
        Poll::Ready(result)
    }
}

fn describe(method: &Method, route: Option<&MatchedPath>) -> SpanBuilder {
    let method = known(method);
    let mut attributes = vec![KeyValue::new("http.request.method", method)];
    let name = match route.map(MatchedPath::as_str) {
        Some(route) => {
            attributes.push(KeyValue::new("http.route", route.to_owned()));
            format!("{method} {route}")
        }
        None => method.to_owned(),
    };
    SpanBuilder::from_name(name).with_kind(SpanKind::Server).with_attributes(attributes)
}

/// The method as OpenTelemetry has it: one of a few, whatever clients send.
fn known(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::HEAD => "HEAD",
        Method::OPTIONS => "OPTIONS",
        _ => "_OTHER",
    }
}

fn note_answer(span: &Span, response: &Response) {
    let status = response.status();
    span.set("http.response.status_code", i64::from(status.as_u16()));
    let problem = response.extensions().get::<ProblemType>().map(|problem| problem.code());
    if let Some(problem) = problem {
        span.set("vestibule.problem", problem);
    }
    // The page of a visitor who waits may be 503, too, and nothing has gone wrong.
    if let Some(problem) = problem.filter(|_| status.is_server_error()) {
        span.fail(problem);
    }
}
