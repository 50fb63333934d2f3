//! Overload: beyond a number of requests in flight, answer 503 at once.
//!
//! This is no queue and no rate limit: a request is served now or refused with `Retry-After`, because a
//! queue under overload delays everyone. Readiness does not change, because a busy instance still works.
//! Health checks use the other port and are never shed. A request whose body is awaited is not in flight: a client that
//! sends nothing costs its connection, of which one address has its part, and no more.

mod awaited_body;
mod gate;

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use axum::{
    body::{Body, HttpBody},
    http::Request,
    response::{IntoResponse, Response},
};
use pin_project_lite::pin_project;
use tower::{Layer, Service};

use self::{
    awaited_body::AwaitedBody,
    gate::{Gate, Permit},
};
use crate::problem::{Problem, ProblemType};

/// Requests in flight at once when nothing else is configured.
///
/// Far above what answers from memory ever reach, and below what would exhaust the memory while
/// they wait for Redis.
pub const DEFAULT_MAX_IN_FLIGHT: usize = 10_000;

/// The layer. All services made by it and its clones share one limit.
#[derive(Debug, Clone)]
pub struct Shed(Arc<Gate>);

/// A service that sheds what exceeds the limit.
#[derive(Debug, Clone)]
pub struct Shedding<S> {
    inner: S,
    shed: Shed,
}

/// What place a request has.
#[derive(Debug)]
enum Place {
    /// None: it is to come back after so many seconds, and the inner service was not called.
    Refused(u32),
    /// One until it is answered.
    Whole(Permit),
    /// One while its body is not awaited. Most requests have none, and cost no memory here.
    Parted(Arc<Permit>),
}

pin_project! {
    /// The inner answer, or the refusal.
    #[derive(Debug)]
    pub struct SheddingFuture<F> {
        #[pin]
        inner: Option<F>,
        place: Place,
    }
}

// === impl Shed ===

impl Shed {
    /// Sheds beyond `max` requests in flight; 0 refuses everything.
    #[must_use]
    pub fn new(max: usize) -> Self {
        Self(Arc::new(Gate::new(max)))
    }
}

impl Default for Shed {
    fn default() -> Self {
        Self::new(DEFAULT_MAX_IN_FLIGHT)
    }
}

impl<S> Layer<S> for Shed {
    type Service = Shedding<S>;

    fn layer(&self, inner: S) -> Self::Service {
        Shedding { inner, shed: self.clone() }
    }
}

// === impl Shedding ===

impl<S> Service<Request<Body>> for Shedding<S>
where
    S: Service<Request<Body>, Response = Response>,
{
    type Response = Response;
    type Error = S::Error;
    type Future = SheddingFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let gate = &self.shed.0;
        let Some(permit) = gate.take_permit() else {
            return SheddingFuture { inner: None, place: Place::Refused(gate.come_back_in()) };
        };
        let (request, place) = if request.body().is_end_stream() {
            (request, Place::Whole(permit))
        } else {
            let permit = Arc::new(permit);
            let request = request.map(|body| Body::new(AwaitedBody::new(body, &permit)));
            (request, Place::Parted(permit))
        };
        SheddingFuture { inner: Some(self.inner.call(request)), place }
    }
}

// === impl Place ===

impl Place {
    /// Gives it back. For how many seconds the request is refused, if it found no place any more.
    fn end(&self) -> Option<u32> {
        match self {
            Self::Refused(seconds) => Some(*seconds),
            Self::Whole(permit) => {
                permit.give_back();
                None
            }
            Self::Parted(permit) => {
                permit.give_back();
                permit.refused_for()
            }
        }
    }
}

// === impl SheddingFuture ===

impl<F, E> Future for SheddingFuture<F>
where
    F: Future<Output = Result<Response, E>>,
{
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let answer = match this.inner.as_pin_mut() {
            Some(inner) => Some(ready!(inner.poll(cx))),
            None => None,
        };
        match (this.place.end(), answer) {
            (None, Some(answer)) => Poll::Ready(answer),
            (seconds, _) => Poll::Ready(Ok(refusal(seconds))),
        }
    }
}

fn refusal(seconds: Option<u32>) -> Response {
    let problem = Problem::new(ProblemType::Overloaded);
    match seconds {
        Some(seconds) => problem.retry_after(seconds),
        None => problem,
    }
    .into_response()
}

#[cfg(test)]
mod tests;
