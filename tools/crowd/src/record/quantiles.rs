//! Quantiles of spans of time and of shares: five digits of each value are kept, however many there
//! are.

use hdrhistogram::Histogram;
use serde::Serialize;

use crate::crowd::number::{natural, real64};

/// Digits that are kept of each value.
const DIGITS: u8 = 5;
/// Spans are kept in units of a millisecond.
const PER_SECOND: f64 = 1e3;

/// Values of one kind, whole numbers of some small unit.
#[derive(Debug, Clone, Default)]
pub(crate) struct Quantiles(Option<Histogram<u32>>);

/// Spans of time, such as how long admitted visitors had waited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(crate) struct Waits {
    /// How many: of waits, the admitted visitors who had to wait.
    pub(crate) count: u64,
    /// Half of them were no longer.
    pub(crate) p50_seconds: f64,
    /// Nine of ten were no longer.
    pub(crate) p90_seconds: f64,
    /// 95 of 100 took at most this.
    pub(crate) p95_seconds: f64,
    /// The longest.
    pub(crate) max_seconds: f64,
}

// === impl Quantiles ===

impl Quantiles {
    /// Adds a value.
    pub(crate) fn add(&mut self, value: u64) {
        // Memory only for what is ever counted. Five digits are what a histogram can keep.
        if self.0.is_none() {
            self.0 = Histogram::new(DIGITS).ok();
        }
        if let Some(histogram) = &mut self.0 {
            // It grows with its values, as far as memory is addressed.
            let _ = histogram.record(value);
        }
    }

    /// Adds a span of seconds.
    pub(crate) fn add_seconds(&mut self, seconds: f64) {
        self.add(natural(seconds * PER_SECOND));
    }

    /// How many there are.
    pub(crate) fn count(&self) -> u64 {
        self.0.as_ref().map_or(0, Histogram::len)
    }

    /// The value that a share of all do not exceed; 0 of none.
    pub(crate) fn at(&self, share: f64) -> f64 {
        let value = |of: &Histogram<u32>| of.lowest_equivalent(of.value_at_quantile(share));
        self.0.as_ref().map_or(0.0, |histogram| real64(value(histogram)))
    }

    /// The same of spans, in seconds.
    pub(crate) fn seconds_at(&self, share: f64) -> f64 {
        self.at(share) / PER_SECOND
    }
}

// === impl Waits ===

impl Waits {
    /// Sums up spans of seconds.
    pub(crate) fn new(spans: impl IntoIterator<Item = f64>) -> Self {
        let mut all = Quantiles::default();
        spans.into_iter().for_each(|seconds| all.add_seconds(seconds));
        let [p50_seconds, p90_seconds, p95_seconds, max_seconds] =
            [0.5, 0.9, 0.95, 1.0].map(|share| all.seconds_at(share));
        Self { count: all.count(), p50_seconds, p90_seconds, p95_seconds, max_seconds }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values_that_occurred() {
        let mut all = Quantiles::default();
        (1..=1000).rev().for_each(|n| all.add(n * 1000));
        assert_eq!(all.count(), 1000);
        let seen = [0.0005, 0.5, 0.9, 0.99, 1.0].map(|share| all.at(share));
        assert_eq!(seen.map(natural), [1_000, 500_000, 900_000, 990_000, 1_000_000]);
        assert_eq!((Quantiles::default().count(), Quantiles::default().at(0.5)), (0, 0.0));
    }

    #[test]
    fn long_spans_keep_five_digits() {
        let waits = Waits::new([0.0505, 123.45, 98_765.4]);
        assert_eq!((waits.count, waits.p50_seconds), (3, 123.45));
        assert!((waits.max_seconds / 98_765.4 - 1.0).abs() < 1e-5, "{waits:?}");
        assert_eq!(Waits::new([]), Waits::default());
    }
}
