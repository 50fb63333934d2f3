//! How hard the built-in puzzle is: it costs a visitor about a second, and more while many join, because
//! then a crowd that is made by machines pays for each of its places. Puzzles that were handed out before
//! stay as hard as they were.

/// The largest number that a puzzle may hide while few join: half as many attempts are needed on average.
const BASE: u32 = 300_000;
/// Joins per second of one instance up to which a puzzle is as easy as that.
const CALM: f64 = 50.0;
/// How much harder it gets at most: real visitors wait for it, too.
const HARDEST: f64 = 4.0;
/// Over how long the rate is taken, in ms: 1/e of it is forgotten in this time.
const MEMORY_MS: f64 = 10_000.0;

/// How many join per second lately. In constant memory.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct JoinRate {
    per_second: f64,
    at_ms: u64,
}

// === impl JoinRate ===

impl JoinRate {
    /// Counts one who joins at `now_ms`.
    pub fn count(&mut self, now_ms: u64) {
        self.per_second = self.per_second(now_ms) + 1000.0 / MEMORY_MS;
        self.at_ms = self.at_ms.max(now_ms);
    }

    /// How many joined per second, as seen at `now_ms`.
    #[must_use]
    pub fn per_second(&self, now_ms: u64) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "a rate")]
        let passed = now_ms.saturating_sub(self.at_ms) as f64;
        self.per_second * (-passed / MEMORY_MS).exp()
    }
}

/// The largest number that a puzzle may hide while so many join per second at one instance.
#[must_use]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 4 × BASE")]
pub fn max_number(joins_per_second: f64) -> u32 {
    let harder = (joins_per_second / CALM).clamp(1.0, HARDEST);
    (f64::from(BASE) * harder) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_learnt_and_forgotten() {
        let mut rate = JoinRate::default();
        for ms in 0..60_000 {
            if ms % 10 == 0 {
                rate.count(ms);
            }
        }
        let steady = rate.per_second(60_000);
        assert!((95.0..105.0).contains(&steady), "{steady}");
        assert!(rate.per_second(120_000) < 1.0);
        assert!(rate.per_second(0) <= steady + 0.1, "a clock that goes back raises nothing");
    }

    #[test]
    fn puzzles_get_harder_while_many_join_and_only_so_hard() {
        assert_eq!(max_number(0.0), BASE);
        assert_eq!(max_number(50.0), BASE);
        assert_eq!(max_number(100.0), 2 * BASE);
        assert_eq!(max_number(1e9), 4 * BASE);
        assert_eq!(max_number(f64::NAN), 0, "does not happen, and does not panic");
    }
}
