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
}

impl fmt::Debug for Random {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Random")
    }
}
