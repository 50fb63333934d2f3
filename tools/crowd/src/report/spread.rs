//! Percentiles: of latencies and of waits. Exact, over all values; no histogram stands between.

use serde::Serialize;

use crate::{
    number::{index, real},
    record::RunRecord,
};

/// How long calls of one kind took, in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(crate) struct Latency {
    /// Calls that were answered.
    pub(crate) count: usize,
    /// Half of them took no longer.
    pub(crate) p50_ms: f64,
    /// Nine of ten took no longer.
    pub(crate) p90_ms: f64,
    /// 99 of 100 took no longer.
    pub(crate) p99_ms: f64,
    /// The longest.
    pub(crate) max_ms: f64,
}

/// Spans of time, such as how long admitted visitors had waited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(crate) struct Waits {
    /// How many: of waits, the admitted visitors who had to wait.
    pub(crate) count: usize,
    /// Half of them were no longer.
    pub(crate) p50_seconds: f64,
    /// Nine of ten were no longer.
    pub(crate) p90_seconds: f64,
    /// The longest.
    pub(crate) max_seconds: f64,
}

/// The value below which a share of the sorted values lies (nearest rank); 0 of none.
pub(super) fn percentile(sorted: &[f64], share: f64) -> f64 {
    let rank = index((real(sorted.len()) * share).ceil());
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(0.0)
}

/// The same values from the smallest to the largest.
pub(super) fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}

/// Sums up latencies given in microseconds.
pub(crate) fn latency(micros: &[u32]) -> Latency {
    let ms = sorted(micros.iter().map(|&us| f64::from(us) / 1000.0).collect());
    Latency {
        count: ms.len(),
        p50_ms: percentile(&ms, 0.5),
        p90_ms: percentile(&ms, 0.9),
        p99_ms: percentile(&ms, 0.99),
        max_ms: percentile(&ms, 1.0),
    }
}

/// Sums up the waits of those who were admitted.
pub(crate) fn waits(run: &RunRecord) -> Waits {
    let waits = run.visitors.iter().filter_map(|visitor| run.wait(visitor));
    of_seconds(waits.map(|(from, until)| until - from).collect())
}

/// Sums up spans of time given in seconds.
pub(super) fn of_seconds(spans: Vec<f64>) -> Waits {
    let spans = sorted(spans);
    Waits {
        count: spans.len(),
        p50_seconds: percentile(&spans, 0.5),
        p90_seconds: percentile(&spans, 0.9),
        max_seconds: percentile(&spans, 1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_occurred() {
        let micros: Vec<u32> = (1..=1000).rev().map(|n| n * 1000).collect();
        let expected =
            Latency { count: 1000, p50_ms: 500.0, p90_ms: 900.0, p99_ms: 990.0, max_ms: 1000.0 };
        assert_eq!(latency(&micros), expected);
        assert_eq!(latency(&[]), Latency::default());
        assert!((latency(&[7000]).p50_ms - 7.0).abs() < 1e-9);
    }
}
