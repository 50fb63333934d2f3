//! The numbers kept per route and method, as plain atomics.
//!
//! A request adds to a handful of them and does nothing else: no lock, no label lookup, no allocation. The
//! price is 4 KB per route and method that was ever called, most of it never touched. Reading and
//! naming them is the collector's part.

use std::{
    array,
    sync::{
        OnceLock,
        atomic::{AtomicI64, AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use axum::http::{Method, StatusCode};

use crate::problem::ProblemType;

/// Upper bounds of the latency histogram, in microseconds; one more bucket takes the rest.
///
/// From 100 µs, because an answer from memory takes less, to 10 s, when everyone has left.
pub const LATENCY_BUCKETS_MICROS: [u64; 16] = [
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000,
    1_000_000, 2_500_000, 5_000_000, 10_000_000,
];

/// Status recorded when the client went away before the answer, as proxies do.
pub const CLIENT_CLOSED_REQUEST: u16 = 499;

const FIRST_STATUS: u16 = 100;
const STATUSES: usize = 500;
const METHODS: [&str; 8] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "other"];

/// A method as a position in the table of labels: bounded, whatever clients send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MethodLabel(usize);

/// Everything about one route.
#[derive(Debug)]
pub(super) struct RouteSeries {
    /// The route's template (`/v1/rooms/{room}`), never a request's path.
    pub(super) route: Box<str>,
    /// Requests that have not been answered yet.
    pub(super) in_flight: AtomicI64,
    methods: [OnceLock<Box<Series>>; METHODS.len()],
}

/// Everything about one route and method.
#[derive(Debug)]
pub(super) struct Series {
    statuses: [AtomicU64; STATUSES],
    problems: [AtomicU64; ProblemType::COUNT],
    buckets: [AtomicU64; LATENCY_BUCKETS_MICROS.len() + 1],
    nanos: AtomicU64,
}

// === impl MethodLabel ===

impl MethodLabel {
    pub(super) fn from_method(method: &Method) -> Self {
        // The two that are nearly every request come first.
        Self(match *method {
            Method::GET => 0,
            Method::POST => 1,
            Method::PUT => 2,
            Method::PATCH => 3,
            Method::DELETE => 4,
            Method::HEAD => 5,
            Method::OPTIONS => 6,
            _ => METHODS.len() - 1,
        })
    }
}

// === impl RouteSeries ===

impl RouteSeries {
    pub(super) fn new(route: &str) -> Self {
        Self {
            route: route.into(),
            in_flight: AtomicI64::new(0),
            methods: array::from_fn(|_| OnceLock::new()),
        }
    }

    pub(super) fn series(&self, method: MethodLabel) -> &Series {
        self.methods[method.0].get_or_init(Box::default)
    }

    /// The methods that were called, with their labels.
    pub(super) fn called(&self) -> impl Iterator<Item = (&'static str, &Series)> {
        METHODS
            .iter()
            .zip(&self.methods)
            .filter_map(|(label, series)| series.get().map(|series| (*label, series.as_ref())))
    }
}

// === impl Series ===

impl Series {
    pub(super) fn record(&self, status: u16, problem: Option<ProblemType>, elapsed: Duration) {
        let slot = usize::from(status.saturating_sub(FIRST_STATUS)).min(STATUSES - 1);
        self.statuses[slot].fetch_add(1, Relaxed);
        if let Some(problem) = problem {
            self.problems[problem as usize].fetch_add(1, Relaxed);
        }
        let nanos = u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX);
        let bucket = LATENCY_BUCKETS_MICROS.partition_point(|&bound| bound * 1_000 < nanos);
        self.buckets[bucket].fetch_add(1, Relaxed);
        self.nanos.fetch_add(nanos, Relaxed);
    }

    /// Statuses answered so far, with how often.
    pub(super) fn statuses(&self) -> impl Iterator<Item = (StatusCode, u64)> {
        (FIRST_STATUS..).zip(&self.statuses).filter_map(|(status, count)| {
            let count = count.load(Relaxed);
            let status = StatusCode::from_u16(status).ok()?;
            (count > 0).then_some((status, count))
        })
    }

    /// Problems answered so far, with how often.
    pub(super) fn problems(&self) -> impl Iterator<Item = (ProblemType, u64)> {
        ProblemType::ALL.iter().zip(&self.problems).filter_map(|(problem, count)| {
            let count = count.load(Relaxed);
            (count > 0).then_some((*problem, count))
        })
    }

    /// Upper bounds in seconds, each with the number of observations in its bucket alone.
    pub(super) fn buckets(&self) -> Vec<(f64, u64)> {
        let bounds = LATENCY_BUCKETS_MICROS
            .iter()
            .map(|&micros| Duration::from_micros(micros).as_secs_f64());
        bounds
            .chain([f64::INFINITY])
            .zip(self.buckets.iter().map(|count| count.load(Relaxed)))
            .collect()
    }

    /// Sum of all observations, in seconds.
    pub(super) fn seconds(&self) -> f64 {
        Duration::from_nanos(self.nanos.load(Relaxed)).as_secs_f64()
    }
}

impl Default for Series {
    fn default() -> Self {
        Self {
            statuses: array::from_fn(|_| AtomicU64::new(0)),
            problems: array::from_fn(|_| AtomicU64::new(0)),
            buckets: array::from_fn(|_| AtomicU64::new(0)),
            nanos: AtomicU64::new(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(series: &Series) -> Vec<u64> {
        series.buckets().into_iter().map(|(_, count)| count).collect()
    }

    #[test]
    fn an_observation_on_a_bound_belongs_below_it() {
        let series = Series::default();
        series.record(200, None, Duration::from_micros(100));
        series.record(200, None, Duration::from_nanos(100_001));
        series.record(200, None, Duration::from_secs(11));
        let counts = counts(&series);
        assert_eq!((counts[0], counts[1], counts[16]), (1, 1, 1));
        assert_eq!(counts.iter().sum::<u64>(), 3);
        assert!((series.seconds() - 11.000_200_001).abs() < 1e-9);
    }

    #[test]
    fn bounds_rise() {
        assert!(LATENCY_BUCKETS_MICROS.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn statuses_and_problems_are_told_apart() {
        let series = Series::default();
        series.record(204, None, Duration::ZERO);
        series.record(503, Some(ProblemType::Overloaded), Duration::ZERO);
        series.record(503, Some(ProblemType::RedisUnavailable), Duration::ZERO);
        let statuses: Vec<_> = series.statuses().collect();
        let expected = [(StatusCode::NO_CONTENT, 1), (StatusCode::SERVICE_UNAVAILABLE, 2)];
        assert_eq!(statuses, expected);
        let problems: Vec<_> = series.problems().collect();
        assert_eq!(problems, [(ProblemType::Overloaded, 1), (ProblemType::RedisUnavailable, 1)]);
    }

    #[test]
    fn methods_nobody_knows_share_a_label() {
        let route = RouteSeries::new("/x");
        let method = Method::from_bytes(b"BREW").unwrap();
        route.series(MethodLabel::from_method(&method)).record(200, None, Duration::ZERO);
        route.series(MethodLabel::from_method(&Method::GET)).record(200, None, Duration::ZERO);
        let labels: Vec<_> = route.called().map(|(label, _)| label).collect();
        assert_eq!(labels, ["GET", "other"]);
    }
}
