//! Which traces are recorded: pure rules, without a clock and without chance.

use std::time::Duration;

/// How many values the high half of a draw has.
const HIGHS: f64 = 4_294_967_296.0;

/// Which traces are recorded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sampling {
    /// The part of all traces that begin here, 0 to 1.
    pub fraction: f64,
    /// Whether who calls decides, if it is believed and says anything. Otherwise the fraction decides about its traces,
    /// too.
    pub by_parent: bool,
    /// Most traces that are begun in a second, whoever asks for them.
    pub per_second: u32,
}

/// How many traces were begun in the present second.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Recent {
    began: Duration,
    count: u32,
}

// === impl Sampling ===

impl Sampling {
    /// Whether a trace is wanted. `parent`: whether the caller records it, where there is one that is believed; `draw`: a
    /// number, uniform over all of `u64`.
    #[must_use]
    pub fn wants(&self, parent: Option<bool>, draw: u64) -> bool {
        match parent {
            Some(recorded) if self.by_parent => recorded,
            _ => self.is_drawn(draw),
        }
    }

    fn is_drawn(&self, draw: u64) -> bool {
        let high = u32::try_from(draw >> 32).unwrap_or(u32::MAX);
        f64::from(high) < self.fraction * HIGHS
    }
}

// === impl Recent ===

impl Recent {
    /// Counts one more at `now`, which is any time that rises, unless there were `most` in this second.
    pub(crate) fn take(&mut self, now: Duration, most: u32) -> bool {
        if now.saturating_sub(self.began) >= Duration::from_secs(1) {
            *self = Self { began: now, count: 0 };
        }
        let is_free = self.count < most;
        self.count += u32::from(is_free);
        is_free
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampling(fraction: f64, by_parent: bool) -> Sampling {
        Sampling { fraction, by_parent, per_second: 9 }
    }

    #[test]
    fn a_fraction_is_that_part_of_all_draws() {
        let draws = || (0..1_000_u64).map(|nth| nth * (u64::MAX / 1_000));
        for (fraction, expected) in [(0.0, 0), (0.01, 10), (0.5, 500), (1.0, 1_000)] {
            let sampling = sampling(fraction, true);
            let count = draws().filter(|draw| sampling.wants(None, *draw)).count();
            assert!(count.abs_diff(expected) <= 1, "{count} instead of {expected}");
        }
        assert!(!sampling(0.0, true).wants(None, 0));
        assert!(sampling(1.0, true).wants(None, u64::MAX));
    }

    #[test]
    fn who_calls_decides_if_it_may() {
        assert!(sampling(0.0, true).wants(Some(true), u64::MAX));
        assert!(!sampling(1.0, true).wants(Some(false), 0));
        assert!(!sampling(0.0, false).wants(Some(true), 0));
        assert!(sampling(1.0, false).wants(Some(false), 0));
    }

    #[test]
    fn a_second_has_so_many_and_no_more() {
        let mut recent = Recent::default();
        let at = Duration::from_millis;
        let mut taken = |ms| recent.take(at(ms), 2);
        assert_eq!([taken(5_000), taken(5_100), taken(5_999)], [true, true, false]);
        assert_eq!([taken(6_000), taken(6_999), taken(6_999)], [true, true, false]);
        assert!(taken(7_000));
        assert!(!Recent::default().take(at(0), 0));
    }
}
