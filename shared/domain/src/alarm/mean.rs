//! The mean of what was seen lately.

use std::collections::VecDeque;

/// The values of a window.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Mean(VecDeque<(u64, f64)>);

// === impl Mean ===

impl Mean {
    /// How often a value is taken in, ms.
    const EVERY_MS: u64 = 5_000;

    /// Takes in what was seen at `now_ms`, if it was something, and returns the mean of the last `window_ms`; `None`:
    /// nothing was seen.
    pub fn see(&mut self, now_ms: u64, value: Option<f64>, window_ms: u64) -> Option<f64> {
        let is_due = self.0.back().is_none_or(|(at, _)| now_ms >= at + Self::EVERY_MS);
        self.0.extend(value.filter(|_| is_due).map(|value| (now_ms, value)));
        while self.0.front().is_some_and(|(at, _)| at + window_ms < now_ms) {
            self.0.pop_front();
        }
        let count = u32::try_from(self.0.len()).ok().filter(|count| *count > 0)?;
        Some(self.0.iter().map(|(_, value)| value).sum::<f64>() / f64::from(count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_that_of_the_window_alone() {
        let mut mean = Mean::default();
        assert_eq!(mean.see(0, None, 10_000), None);
        assert_eq!(mean.see(0, Some(1.0), 10_000), Some(1.0));
        assert_eq!(mean.see(1_000, Some(9.0), 10_000), Some(1.0), "too soon");
        assert_eq!(mean.see(10_000, Some(3.0), 10_000), Some(2.0));
        assert_eq!(mean.see(15_000, None, 10_000), Some(3.0));
        assert_eq!(mean.see(20_001, None, 10_000), None);
    }
}
