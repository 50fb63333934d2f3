//! Medians and spreads of a few rounds.

use serde::Serialize;

/// The spread of the values of several rounds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Spread {
    /// The least.
    pub(crate) least: f64,
    /// The median.
    pub(crate) median: f64,
    /// The most.
    pub(crate) most: f64,
}

// === impl Spread ===

impl Spread {
    /// The spread of `values`; `None` if there are none.
    pub(crate) fn from_values(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_unstable_by(f64::total_cmp);
        let middle = values.len() / 2;
        let median = match values.len() {
            0 => return None,
            even if even % 2 == 0 => f64::midpoint(values[middle - 1], values[middle]),
            _ => values[middle],
        };
        Some(Self { least: values[0], median, most: values[values.len() - 1] })
    }
}

/// A count as a number to calculate with.
#[expect(clippy::cast_precision_loss, reason = "far fewer than 2^52")]
pub(crate) fn count(of: u64) -> f64 {
    of as f64
}

/// The value of `sorted` below which the share `q` of them is; `None` if there are none.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "far fewer than 2^52"
)]
pub(crate) fn quantile(sorted: &[f64], q: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    sorted.get((last as f64 * q).round() as usize).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle_whatever_the_order() {
        let odd = Spread::from_values([3.0, 100.0, 1.0]).unwrap();
        assert_eq!(odd, Spread { least: 1.0, median: 3.0, most: 100.0 });
        let even = Spread::from_values([4.0, 1.0, 2.0, 100.0]).unwrap();
        assert_eq!(even, Spread { least: 1.0, median: 3.0, most: 100.0 });
        assert_eq!(Spread::from_values([7.0]), Some(Spread { least: 7.0, median: 7.0, most: 7.0 }));
        assert_eq!(Spread::from_values([]), None);
    }

    #[test]
    fn quantiles_are_values_that_were_there() {
        let sorted: Vec<_> = (0..=100).map(f64::from).collect();
        let at = |q| quantile(&sorted, q);
        assert_eq!((at(0.0), at(0.5)), (Some(0.0), Some(50.0)));
        assert_eq!((at(0.99), at(1.0)), (Some(99.0), Some(100.0)));
        assert_eq!((quantile(&[7.0], 0.99), quantile(&[], 0.5)), (Some(7.0), None));
    }
}
