//! Measures a request until its response is there or the client has gone away.

use std::{
    pin::Pin,
    sync::{Arc, atomic::Ordering::Relaxed},
    task::{Context, Poll, ready},
};

use axum::response::Response;
use pin_project_lite::pin_project;
use tokio::time::Instant;

use super::series::{CLIENT_CLOSED_REQUEST, MethodLabel, RouteSeries};
use crate::problem::ProblemType;

pin_project! {
    /// Answers as the inner future does, and counts it.
    #[derive(Debug)]
    pub struct CountedFuture<F> {
        #[pin]
        inner: F,
        observation: Observation,
    }
}

/// One request under way. Dropped before [`Observation::finish`], it counts as given up.
#[derive(Debug)]
pub(super) struct Observation {
    series: Arc<RouteSeries>,
    method: MethodLabel,
    start: Instant,
    finished: bool,
}

// === impl CountedFuture ===

impl<F> CountedFuture<F> {
    pub(super) fn new(inner: F, observation: Observation) -> Self {
        Self { inner, observation }
    }
}

impl<F, E> Future for CountedFuture<F>
where
    F: Future<Output = Result<Response, E>>,
{
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let result = ready!(this.inner.poll(cx));
        if let Ok(response) = &result {
            let problem = response.extensions().get::<ProblemType>().copied();
            this.observation.finish(response.status().as_u16(), problem);
        }
        Poll::Ready(result)
    }
}

// === impl Observation ===

impl Observation {
    pub(super) fn start(series: Arc<RouteSeries>, method: MethodLabel) -> Self {
        series.in_flight.fetch_add(1, Relaxed);
        Self { series, method, start: Instant::now(), finished: false }
    }

    fn finish(&mut self, status: u16, problem: Option<ProblemType>) {
        self.finished = true;
        self.series.in_flight.fetch_sub(1, Relaxed);
        self.series.series(self.method).record(status, problem, self.start.elapsed());
    }
}

impl Drop for Observation {
    fn drop(&mut self) {
        if !self.finished {
            self.finish(CLIENT_CLOSED_REQUEST, None);
        }
    }
}
