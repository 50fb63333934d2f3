//! Estimates of the wait. Unknown is said as unknown (`None`), never guessed.

/// The wait of a fifo visitor, in seconds: people ahead who are still there, divided by the pace.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "counts of people")]
pub fn fifo_seconds(people_ahead: u64, admissions_per_second: f64) -> Option<f64> {
    (admissions_per_second > 0.0).then(|| people_ahead as f64 / admissions_per_second)
}

/// Smooths a pace: an exponential mean over about `SMOOTHING_SECONDS`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Pace {
    per_second: f64,
    last: Option<(u64, u64)>,
}

const SMOOTHING_SECONDS: f64 = 15.0;

// === impl Pace ===

impl Pace {
    /// Takes in that `total` had been admitted by `now_ms`.
    pub fn observe(&mut self, now_ms: u64, total: u64) {
        let Some((then_ms, before)) = self.last.replace((now_ms, total)) else { return };
        let seconds = Self::seconds(now_ms.saturating_sub(then_ms));
        if seconds <= 0.0 || total < before {
            return;
        }
        #[expect(clippy::cast_precision_loss, reason = "counts of people")]
        let pace = (total - before) as f64 / seconds;
        let weight = 1.0 - (-seconds / SMOOTHING_SECONDS).exp();
        self.per_second += (pace - self.per_second) * weight;
    }

    /// Admissions per second; 0 before any.
    #[must_use]
    pub fn per_second(&self) -> f64 {
        if self.per_second < 1e-3 { 0.0 } else { self.per_second }
    }

    #[expect(clippy::cast_precision_loss, reason = "short spans")]
    fn seconds(ms: u64) -> f64 {
        ms as f64 / 1000.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_ahead_divided_by_the_pace() {
        assert_eq!(fifo_seconds(10_000, 1_000.0 / 60.0).map(f64::round), Some(600.0));
        assert_eq!(fifo_seconds(0, 1.0), Some(0.0));
        assert_eq!(fifo_seconds(10, 0.0), None);
    }

    #[test]
    fn the_pace_settles_at_what_happens_and_falls_when_it_stops() {
        let mut pace = Pace::default();
        for tick in 0..400_u64 {
            pace.observe(tick * 250, tick * 5);
        }
        assert!((pace.per_second() - 20.0).abs() < 0.1, "{pace:?}");
        for tick in 400..1200_u64 {
            pace.observe(tick * 250, 400 * 5);
        }
        assert!(pace.per_second() < 0.1, "{pace:?}");
    }
}
