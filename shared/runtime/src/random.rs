//! A service's source of random numbers, injected once so that a simulation can use a seed.

use std::{fmt, sync::Arc};

/// A source of random numbers. Cloning is cheap.
#[derive(Clone)]
pub struct Random(Arc<dyn Fn() -> u64 + Send + Sync>);

// === impl Random ===

impl Random {
    /// Numbers from `source`, which must be uniform over all of `u64`.
    pub fn new(source: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        Self(Arc::new(source))
    }

    /// The system's random numbers.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "the one source of random numbers")]
    pub fn of_system() -> Self {
        Self::new(rand::random)
    }

    /// A number, uniform over all of `u64`.
    #[must_use]
    pub fn number(&self) -> u64 {
        (self.0)()
    }

    /// A number, uniform in `0.0..1.0`.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
    pub fn unit(&self) -> f64 {
        const STEPS: f64 = (1_u64 << 53) as f64;
        (self.number() >> 11) as f64 / STEPS
    }
}

impl fmt::Debug for Random {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Random")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_reach_from_zero_to_below_one() {
        assert_eq!(Random::new(|| 0).unit().to_bits(), 0.0_f64.to_bits());
        let highest = Random::new(|| u64::MAX).unit();
        assert!(highest < 1.0 && highest > 0.999_999);
    }
}
