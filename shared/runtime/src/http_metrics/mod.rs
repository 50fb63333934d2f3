//! Counts requests per route, method and status, with their latency, and the requests in flight.
//!
//! It wraps every request, so it costs next to nothing: each route's numbers are found once, on
//! its first request, and then kept beside the route. The label is the route's template
//! ([`MatchedPath`]), never the path of a request, so clients cannot make up new series.
//!
//! | metric | type | labels |
//! |---|---|---|
//! | `vestibule_http_requests_total` | counter | `route`, `method`, `status` |
//! | `vestibule_http_problems_total` | counter | `route`, `method`, `code` |
//! | `vestibule_http_request_duration_seconds` | histogram | `route`, `method` |
//! | `vestibule_http_requests_in_flight` | gauge | `route` |
//!
//! Deliberately not here: spans, which few requests have ([`mod@crate::traces`]), and access logs, which cost more than
//! an answer from memory.

mod collector;
mod future;
mod series;

use std::{
    sync::{Arc, OnceLock, PoisonError, RwLock},
    task::{Context, Poll},
};

use axum::{extract::MatchedPath, http::Request, response::Response};
use prometheus_client::registry::Registry;
use tower::{Layer, Service};

pub use self::{
    future::CountedFuture,
    series::{CLIENT_CLOSED_REQUEST, LATENCY_BUCKETS_MICROS},
};
use self::{
    future::Observation,
    series::{MethodLabel, RouteSeries},
};

/// The `route` label of requests that no route matched.
pub const UNMATCHED: &str = "unmatched";

/// The layer, and at the same time the handle to everything it has counted.
///
/// Apply it with `Router::layer`, so that routing comes first and the route is known.
#[derive(Debug, Clone)]
pub struct HttpMetrics {
    routes: Arc<RwLock<Vec<Arc<RouteSeries>>>>,
}

/// A service whose requests are counted. Clones share what they know about their route.
#[derive(Debug, Clone)]
pub struct Counted<S> {
    inner: S,
    state: Arc<State>,
}

#[derive(Debug)]
struct State {
    metrics: HttpMetrics,
    /// The route that this service serves, found on its first request.
    route: OnceLock<(Option<MatchedPath>, Arc<RouteSeries>)>,
}

// === impl HttpMetrics ===

impl HttpMetrics {
    /// Creates the metrics and registers them.
    #[must_use]
    pub fn register(registry: &mut Registry) -> Self {
        let metrics = Self { routes: Arc::default() };
        registry.register_collector(Box::new(metrics.clone()));
        metrics
    }

    fn routes(&self) -> Vec<Arc<RouteSeries>> {
        self.routes.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The numbers of the route with this template, new if it was never asked for.
    fn find(&self, route: &str) -> Arc<RouteSeries> {
        let known = self.routes().into_iter().find(|series| &*series.route == route);
        known.unwrap_or_else(|| self.insert(route))
    }

    fn insert(&self, route: &str) -> Arc<RouteSeries> {
        let mut routes = self.routes.write().unwrap_or_else(PoisonError::into_inner);
        // Another request may have inserted the route between the two locks.
        if let Some(series) = routes.iter().find(|series| &*series.route == route) {
            return Arc::clone(series);
        }
        let series = Arc::new(RouteSeries::new(route));
        routes.push(Arc::clone(&series));
        series
    }
}

impl<S> Layer<S> for HttpMetrics {
    type Service = Counted<S>;

    fn layer(&self, inner: S) -> Self::Service {
        let state = State { metrics: self.clone(), route: OnceLock::new() };
        Counted { inner, state: Arc::new(state) }
    }
}

// === impl State ===

impl State {
    fn series(&self, path: Option<&MatchedPath>) -> Arc<RouteSeries> {
        let (known, series) = self.route.get_or_init(|| {
            let route = path.map_or(UNMATCHED, MatchedPath::as_str);
            (path.cloned(), self.metrics.find(route))
        });
        if same(known.as_ref(), path) {
            Arc::clone(series)
        } else {
            // One service under several routes (a nested router used twice): correct, and slower.
            self.metrics.find(path.map_or(UNMATCHED, MatchedPath::as_str))
        }
    }
}

/// Whether both are the same route. The router hands out the same text each time, so comparing
/// addresses decides nearly always.
fn same(known: Option<&MatchedPath>, path: Option<&MatchedPath>) -> bool {
    match (known, path) {
        (Some(known), Some(path)) => {
            std::ptr::eq(known.as_str(), path.as_str()) || known.as_str() == path.as_str()
        }
        (None, None) => true,
        _ => false,
    }
}

// === impl Counted ===

impl<S, B> Service<Request<B>> for Counted<S>
where
    S: Service<Request<B>, Response = Response>,
{
    type Response = Response;
    type Error = S::Error;
    type Future = CountedFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let series = self.state.series(request.extensions().get::<MatchedPath>());
        let observation = Observation::start(series, MethodLabel::from_method(request.method()));
        CountedFuture::new(self.inner.call(request), observation)
    }
}

#[cfg(test)]
mod tests;
