//! Percentiles: of latencies, of waits, and of how far off the estimated waits were. Exact, over
//! all values; no histogram stands between.

use serde::Serialize;

use crate::{
    number::{index, real},
    record::VisitorRecord,
};

/// Waits shorter than this say nothing about an estimate, in seconds.
const SHORTEST_JUDGED: f64 = 1.0;

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

/// How long admitted visitors had waited, in seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(crate) struct Waits {
    /// Admitted visitors who had to wait.
    pub(crate) count: usize,
    /// Half of them waited no longer.
    pub(crate) p50_seconds: f64,
    /// Nine of ten waited no longer.
    pub(crate) p90_seconds: f64,
    /// The longest.
    pub(crate) max_seconds: f64,
}

/// How good an estimated wait was.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Estimate {
    /// Visitors who were told a wait and then admitted.
    pub(crate) visitors: usize,
    /// Half of the estimates were off by no more than this share of the real wait.
    pub(crate) median_relative_error: f64,
    /// The median of (told - real) / real: positive = people were told too long.
    pub(crate) bias: f64,
}

/// How good the waits were that visitors were told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(crate) struct Estimates {
    /// The first wait each was told.
    pub(crate) first: Option<Estimate>,
    /// The one told closest to the middle of each wait.
    pub(crate) halfway: Option<Estimate>,
}

/// The value below which a share of the sorted values lies (nearest rank); 0 of none.
fn percentile(sorted: &[f64], share: f64) -> f64 {
    let rank = index((real(sorted.len()) * share).ceil());
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(0.0)
}

fn sorted(mut values: Vec<f64>) -> Vec<f64> {
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
pub(crate) fn waits(visitors: &[VisitorRecord]) -> Waits {
    let waited =
        sorted(visitors.iter().filter_map(wait).map(|(from, until)| until - from).collect());
    Waits {
        count: waited.len(),
        p50_seconds: percentile(&waited, 0.5),
        p90_seconds: percentile(&waited, 0.9),
        max_seconds: percentile(&waited, 1.0),
    }
}

/// Sets what visitors were told against what happened to them.
pub(crate) fn estimates(visitors: &[VisitorRecord]) -> Estimates {
    Estimates {
        first: judge(visitors, |visitor, _| visitor.told.first()),
        halfway: judge(visitors, |visitor, middle| visitor.told.nearest(middle)),
    }
}

/// `told` picks what to judge of a visitor, given the middle of its wait: when, and how long a wait.
fn judge(
    visitors: &[VisitorRecord],
    told: impl Fn(&VisitorRecord, f64) -> Option<(f64, f64)>,
) -> Option<Estimate> {
    let errors = visitors.iter().filter_map(|visitor| {
        let (from, until) = wait(visitor)?;
        let (at, said) = told(visitor, f64::midpoint(from, until))?;
        let left = until - at;
        (left >= SHORTEST_JUDGED).then_some((said - left) / left)
    });
    estimate(errors.collect())
}

/// From joining to being admitted, for those who had to wait and were.
fn wait(visitor: &VisitorRecord) -> Option<(f64, f64)> {
    let admitted = visitor.admitted?;
    visitor.waiting(admitted)
}

fn estimate(relative_errors: Vec<f64>) -> Option<Estimate> {
    let signed = sorted(relative_errors);
    let absolute = sorted(signed.iter().map(|error| error.abs()).collect());
    (!signed.is_empty()).then(|| Estimate {
        visitors: signed.len(),
        median_relative_error: percentile(&absolute, 0.5),
        bias: percentile(&signed, 0.5),
    })
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

    fn visitor(admitted: f64, told: &[(f64, f64)]) -> VisitorRecord {
        let mut visitor = VisitorRecord {
            joined: Some(0.0),
            waited: true,
            admitted: Some(admitted),
            ..VisitorRecord::default()
        };
        for &(at, wait) in told {
            visitor.told.note(at, wait);
        }
        visitor
    }

    #[test]
    fn estimates_are_judged_first_and_halfway() {
        let crowd = [
            visitor(100.0, &[(0.0, 150.0), (52.0, 48.0), (90.0, 1.0)]), // +50 %, exact
            visitor(100.0, &[(0.0, 80.0), (50.0, 40.0)]),               // -20 %, -20 %
            visitor(100.0, &[(0.0, 120.0), (50.0, 60.0)]),              // +20 %, +20 %
            visitor(0.5, &[(0.0, 60.0)]),                               // too short to judge
        ];
        let Estimates { first: Some(first), halfway: Some(halfway) } = estimates(&crowd) else {
            panic!("waits were told");
        };
        assert_eq!((first.visitors, halfway.visitors), (3, 3));
        assert!((first.median_relative_error - 0.2).abs() < 1e-6);
        assert!((first.bias - 0.2).abs() < 1e-6);
        assert!((halfway.median_relative_error - 0.2).abs() < 1e-6);
        assert!(halfway.bias.abs() < 1e-6);
    }

    #[test]
    fn nothing_told_is_nothing_judged() {
        assert_eq!(estimates(&[visitor(100.0, &[])]), Estimates::default());
        assert!((waits(&[visitor(100.0, &[])]).p50_seconds - 100.0).abs() < 1e-9);
    }
}
