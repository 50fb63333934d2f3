//! Overload: beyond a number of requests in flight, answer 503 at once.
//!
//! This is no queue and no rate limit: a request is served now or refused with `Retry-After`, because a
//! queue under overload delays everyone. Readiness does not change, because a busy instance still works.
//! Health checks use the other port and are never shed.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed},
    },
    task::{Context, Poll, ready},
};

use axum::{
    http::Request,
    response::{IntoResponse, Response},
};
use pin_project_lite::pin_project;
use tower::{Layer, Service};

use crate::problem::{Problem, ProblemType};

/// Requests in flight at once when nothing else is configured.
///
/// Far above what answers from memory ever reach, and below what would exhaust the memory while
/// they wait for Redis.
pub const DEFAULT_MAX_IN_FLIGHT: usize = 10_000;

/// The layer. All services made by it and its clones share one limit.
#[derive(Debug, Clone)]
pub struct Shed(Arc<Gate>);

/// Two counters rather than a semaphore: nobody waits here, and a semaphore takes a lock whenever a
/// permit is given back.
#[derive(Debug)]
struct Gate {
    max: usize,
    in_flight: AtomicUsize,
    /// How many requests were refused.
    refused: AtomicU32,
}

/// Counts one request in flight, and is given back when dropped.
#[derive(Debug)]
struct Permit(Arc<Gate>);

/// A service that sheds what exceeds the limit.
#[derive(Debug, Clone)]
pub struct Shedding<S> {
    inner: S,
    shed: Shed,
}

pin_project! {
    /// The inner answer, or the refusal.
    #[derive(Debug)]
    pub struct SheddingFuture<F> {
        // None: the request is refused, and the inner service was not called.
        #[pin]
        inner: Option<F>,
        permit: Option<Permit>,
        refused_with: u32,
    }
}

// === impl Shed ===

impl Shed {
    /// Sheds beyond `max` requests in flight; 0 refuses everything.
    #[must_use]
    pub fn new(max: usize) -> Self {
        let (in_flight, refused) = (AtomicUsize::new(0), AtomicU32::new(0));
        Self(Arc::new(Gate { max, in_flight, refused }))
    }

    fn take_permit(&self) -> Option<Permit> {
        // The permit is given back also when it turns out to be one too many.
        let before = self.0.in_flight.fetch_add(1, Relaxed);
        let permit = Permit(Arc::clone(&self.0));
        (before < self.0.max).then_some(permit)
    }

    /// Seconds until a refused client should come back: 1 and 2 in turns, so that a burst that
    /// was shed as one does not return as one.
    fn come_back_in(&self) -> u32 {
        1 + self.0.refused.fetch_add(1, Relaxed) % 2
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

// === impl Permit ===

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Relaxed);
    }
}

// === impl Shedding ===

impl<S, B> Service<Request<B>> for Shedding<S>
where
    S: Service<Request<B>, Response = Response>,
{
    type Response = Response;
    type Error = S::Error;
    type Future = SheddingFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        match self.shed.take_permit() {
            Some(permit) => SheddingFuture {
                inner: Some(self.inner.call(request)),
                permit: Some(permit),
                refused_with: 0,
            },
            None => {
                SheddingFuture { inner: None, permit: None, refused_with: self.shed.come_back_in() }
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
        let Some(inner) = this.inner.as_pin_mut() else {
            let problem = Problem::new(ProblemType::Overloaded).retry_after(*this.refused_with);
            return Poll::Ready(Ok(problem.into_response()));
        };
        let result = ready!(inner.poll(cx));
        *this.permit = None;
        Poll::Ready(result)
    }
}

#[cfg(test)]
mod tests {
    use axum::{
        Router,
        body::Body,
        http::{StatusCode, header::RETRY_AFTER},
        routing::get,
    };
    use tokio::sync::Semaphore;
    use tower::ServiceExt;

    use super::*;
    use crate::testing::body_json;

    async fn send(router: &Router) -> Response {
        let request = Request::get("/").body(Body::empty()).unwrap();
        router.clone().oneshot(request).await.unwrap()
    }

    #[tokio::test]
    async fn a_limit_of_zero_refuses_everything_untouched() {
        let called = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&called);
        let handler = async move || counter.fetch_add(1, Relaxed).to_string();
        let router = Router::new().route("/", get(handler)).layer(Shed::new(0));
        for expected in ["1", "2", "1"] {
            let response = send(&router).await;
            assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
            assert_eq!(response.headers()[RETRY_AFTER], expected);
            let problem = body_json(response).await;
            assert_eq!(problem["type"], "urn:vestibule:problem:overloaded");
        }
        assert_eq!(called.load(Relaxed), 0);
    }

    #[tokio::test]
    async fn permits_are_shared_and_given_back() {
        let go_on = Arc::new(Semaphore::new(0));
        let wait = Arc::clone(&go_on);
        let handler = async move || wait.acquire().await.unwrap().forget();
        let shed = Shed::new(1);
        let router = Router::new()
            .route("/", get(handler))
            .route("/quick", get(async || "ok"))
            .layer(shed.clone());
        let first = tokio::spawn({
            let router = router.clone();
            async move { send(&router).await.status() }
        });
        while shed.0.in_flight.load(Relaxed) == 0 {
            tokio::task::yield_now().await;
        }
        let other = Request::get("/quick").body(Body::empty()).unwrap();
        let refused = router.clone().oneshot(other).await.unwrap();
        assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
        go_on.add_permits(2);
        assert_eq!(first.await.unwrap(), StatusCode::OK);
        assert_eq!(send(&router).await.status(), StatusCode::OK);
        assert_eq!(shed.0.in_flight.load(Relaxed), 0);
    }

    #[tokio::test]
    async fn a_request_given_up_gives_its_permit_back() {
        let shed = Shed::new(1);
        let router = Router::new().route("/", get(std::future::pending::<()>)).layer(shed.clone());
        let mut answer = Box::pin(send(&router));
        assert!(
            std::future::poll_fn(|cx| Poll::Ready(answer.as_mut().poll(cx).is_pending())).await
        );
        assert_eq!(shed.0.in_flight.load(Relaxed), 1);
        drop(answer);
        assert_eq!(shed.0.in_flight.load(Relaxed), 0);
    }
}
