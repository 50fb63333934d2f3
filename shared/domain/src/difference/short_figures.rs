//! Tick figures as differences tell them. The curve of who is ahead is half of a difference, and other with every tick;
//! the steps from one of its points to the next are small numbers, and so shorter than the points.

use serde::{Deserialize, Serialize};

use crate::TickFigures;

/// The same as [`TickFigures`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ShortFigures {
    /// All but the curve.
    others: TickFigures,
    /// The curve's steps in positions,
    positions: Vec<i64>,
    /// and in people.
    people: Vec<i64>,
}

// === impl ShortFigures ===

impl From<&TickFigures> for ShortFigures {
    fn from(figures: &TickFigures) -> Self {
        let curve = figures.ahead.iter();
        Self {
            others: TickFigures { ahead: Vec::new(), ..figures.clone() },
            positions: steps(curve.clone().map(|(position, _)| *position)),
            people: steps(curve.map(|(_, people)| *people)),
        }
    }
}

impl From<ShortFigures> for TickFigures {
    fn from(short: ShortFigures) -> Self {
        let ahead = sums(short.positions).zip(sums(short.people)).collect();
        Self { ahead, ..short.others }
    }
}

fn steps(values: impl Iterator<Item = u64>) -> Vec<i64> {
    let step = |before: &mut u64, value: u64| {
        let step = value.wrapping_sub(*before).cast_signed();
        *before = value;
        Some(step)
    };
    values.scan(0, step).collect()
}

fn sums(steps: Vec<i64>) -> impl Iterator<Item = u64> {
    let sum = |sum: &mut u64, step: i64| {
        *sum = sum.wrapping_add_signed(step);
        Some(*sum)
    };
    steps.into_iter().scan(0, sum)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn figures(ahead: Vec<(u64, u64)>) -> TickFigures {
        TickFigures { waiting: 7, polling: Some(5), ahead, ..TickFigures::default() }
    }

    #[test]
    fn a_curve_is_told_by_its_steps() {
        let short = ShortFigures::from(&figures(vec![(1_000, 0), (1_001, 1), (1_050, 21)]));
        let json = serde_json::to_value(&short).unwrap();
        assert_eq!(json["positions"], serde_json::json!([1_000, 1, 49]));
        assert_eq!(json["people"], serde_json::json!([0, 1, 20]));
    }

    proptest! {
        #[test]
        fn no_figure_is_lost(ahead: Vec<(u64, u64)>) {
            let figures = figures(ahead);
            let json = serde_json::to_string(&ShortFigures::from(&figures)).unwrap();
            let read: ShortFigures = serde_json::from_str(&json).unwrap();
            prop_assert_eq!(TickFigures::from(read), figures);
        }
    }
}
