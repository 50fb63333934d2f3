//! Whether those who came earlier waited less or more: Pearson's correlation of two columns.

use super::{RunRecord, VisitorRecord};
use crate::crowd::number::real;

/// Of everyone who was admitted, the time of arrival and how long the wait was, in seconds. Who
/// entered at once waited for no time.
pub(crate) fn arrivals_and_waits(run: &RunRecord) -> Vec<(f64, f64)> {
    let point = |visitor: &VisitorRecord| {
        visitor.admitted?;
        Some((visitor.arrived?, run.wait(visitor).map_or(0.0, |(from, until)| until - from)))
    };
    run.visitors.iter().filter_map(point).collect()
}

/// From -1 to 1; `None` when one of the two never varies.
pub(crate) fn pearson(points: &[(f64, f64)]) -> Option<f64> {
    let count = real(points.len());
    let sum = points.iter().fold((0.0, 0.0), |sum, p| (sum.0 + p.0, sum.1 + p.1));
    let mean = (sum.0 / count, sum.1 / count);
    let (mut both, mut first, mut second) = (0.0, 0.0, 0.0);
    for point in points {
        let (x, y) = (point.0 - mean.0, point.1 - mean.1);
        both += x * y;
        first += x * x;
        second += y * y;
    }
    let spread = (first * second).sqrt();
    (spread > 0.0).then(|| both / spread)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_one_and_a_circle_is_none() {
        let line: Vec<_> = (0..50_u8).map(|n| (f64::from(n), 7.0 - 2.0 * f64::from(n))).collect();
        assert!((pearson(&line).expect("both vary") + 1.0).abs() < 1e-12);
        let cross = [(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)];
        assert!(pearson(&cross).expect("both vary").abs() < 1e-12);
        // By hand: 8 / sqrt(10 * 10).
        let near = [(1.0, 2.0), (2.0, 1.0), (3.0, 4.0), (4.0, 3.0), (5.0, 5.0)];
        assert!((pearson(&near).expect("both vary") - 0.8).abs() < 1e-12);
    }

    #[test]
    fn what_does_not_vary_has_no_correlation() {
        assert_eq!(pearson(&[(1.0, 3.0), (2.0, 3.0)]), None);
        assert_eq!(pearson(&[]), None);
    }
}
