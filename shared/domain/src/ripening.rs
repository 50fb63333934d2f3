//! When people who are served together ask, as a curve: which share of them has had the time to by when.

use std::ops::Range;

/// The curve is drawn through so many points after its first.
const STEPS: usize = 16;

/// Which share of people who were served together has had the time to ask, so long after it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ripening {
    /// Nobody asks before this, ms,
    first_ms: f64,
    /// and whoever is there has asked by then.
    last_ms: f64,
    /// The share that has not asked yet, at even distances between the two.
    left: [f64; STEPS + 1],
}

/// A part of them, who ask evenly over a span of time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Part {
    /// Which share of all it is.
    pub share: f64,
    /// When the first of it asks, ms,
    pub first_ms: f64,
    /// and the last.
    pub last_ms: f64,
}

// === impl Ripening ===

impl Default for Ripening {
    /// Everyone asks at once.
    fn default() -> Self {
        Self::evenly(0..1)
    }
}

impl Ripening {
    /// They ask evenly over this span, ms.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "times of seconds")]
    pub fn evenly(after_ms: Range<u64>) -> Self {
        let (first_ms, last_ms) = (after_ms.start as f64, after_ms.end as f64);
        Self::of(&[Part { share: 1.0, first_ms, last_ms }])
    }

    /// They are these parts, which are all of them together.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a few steps")]
    pub fn of(parts: &[Part]) -> Self {
        let all: f64 = parts.iter().map(|part| part.share).sum();
        let least = |times: &mut dyn Iterator<Item = f64>| times.fold(f64::INFINITY, f64::min);
        let first_ms = least(&mut parts.iter().map(|part| part.first_ms));
        let last_ms = parts.iter().map(|part| part.last_ms).fold(0.0, f64::max);
        if !first_ms.is_finite() || all <= 0.0 {
            return Self::default();
        }
        let last_ms = last_ms.max(first_ms + 1.0);
        let left = std::array::from_fn(|step| {
            let at_ms = first_ms + (last_ms - first_ms) * step as f64 / STEPS as f64;
            parts.iter().map(|part| part.share * part.left(at_ms)).sum::<f64>() / all
        });
        Self { first_ms, last_ms, left }
    }

    /// The same so much later.
    #[must_use]
    pub fn later(self, ms: f64) -> Self {
        Self { first_ms: self.first_ms + ms, last_ms: self.last_ms + ms, ..self }
    }

    /// The same, if each takes up to so much longer.
    #[must_use]
    pub fn taking_longer(self, ms: f64) -> Self {
        Self { last_ms: self.last_ms + ms, ..self }
    }

    /// When whoever is there has asked, ms.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a time")]
    pub fn last_ms(&self) -> u64 {
        self.last_ms.ceil() as u64
    }

    /// The share that has not had the time to ask, so long after all were served.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a few steps"
    )]
    pub fn left(&self, age_ms: f64) -> f64 {
        let part = (age_ms - self.first_ms) / (self.last_ms - self.first_ms);
        let steps = part.clamp(0.0, 1.0) * STEPS as f64;
        let before = (steps as usize).min(STEPS - 1);
        let (from, to) = (self.left[before], self.left[before + 1]);
        from + (to - from) * (steps - before as f64)
    }
}

// === impl Part ===

impl Part {
    /// The share of this part that has not asked by then.
    #[must_use]
    pub fn left(&self, at_ms: f64) -> f64 {
        let span = (self.last_ms - self.first_ms).max(1.0);
        ((self.first_ms + span - at_ms) / span).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_near(left: f64, right: f64) -> bool {
        (left - right).abs() < 1e-9
    }

    #[test]
    fn evenly_from_the_first_to_the_last() {
        let curve = Ripening::evenly(1_000..3_000);
        for (age_ms, left) in [(0.0, 1.0), (1_000.0, 1.0), (1_500.0, 0.75), (3_000.0, 0.0)] {
            assert!(is_near(curve.left(age_ms), left), "{age_ms}");
        }
        assert_eq!(curve.last_ms(), 3_000);
        assert!(is_near(Ripening::evenly(0..0).left(1.0), 0.0), "at once");
    }

    #[test]
    fn parts_that_ask_at_different_times() {
        let soon = Part { share: 3.0, first_ms: 0.0, last_ms: 1_000.0 };
        let late = Part { share: 1.0, first_ms: 3_000.0, last_ms: 4_000.0 };
        let curve = Ripening::of(&[soon, late]);
        for (age_ms, left) in [(0.0, 1.0), (500.0, 0.625), (2_000.0, 0.25), (3_500.0, 0.125)] {
            assert!(is_near(curve.left(age_ms), left), "{age_ms}");
        }
        let slower = curve.taking_longer(4_000.0);
        assert!(is_near(slower.left(500.0), curve.left(250.0)) && slower.last_ms() == 8_000);
        let later = curve.later(500.0);
        assert!(is_near(later.left(500.0), 1.0) && is_near(later.left(1_500.0), 0.25));
    }

    #[test]
    fn of_nobody_everyone_asks_at_once() {
        assert!(is_near(Ripening::of(&[]).left(1.0), 0.0));
    }
}
