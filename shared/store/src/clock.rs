//! The clock of all rooms: Redis's own. Tests and simulations use a manual one.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

/// Where scripts take the time from.
#[derive(Debug, Clone, Default)]
pub enum Clock {
    /// The Redis server's clock.
    #[default]
    Server,
    /// A time that moves only by [`ManualClock::advance_ms`].
    Manual(ManualClock),
}

/// A clock that a test moves. Clones share the time.
#[derive(Debug, Clone)]
pub struct ManualClock(Arc<AtomicU64>);

// === impl Clock ===

impl Clock {
    /// The first argument of every script: ms, 0 for the server's clock.
    pub(crate) fn argument(&self) -> u64 {
        match self {
            Self::Server => 0,
            Self::Manual(clock) => clock.now_ms(),
        }
    }
}

// === impl ManualClock ===

impl ManualClock {
    /// A clock that stands at `now_ms`.
    #[must_use]
    pub fn at(now_ms: u64) -> Self {
        Self(Arc::new(AtomicU64::new(now_ms)))
    }

    /// The time, in ms since 1970.
    #[must_use]
    pub fn now_ms(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }

    /// Moves the time forward.
    pub fn advance_ms(&self, ms: u64) {
        self.0.fetch_add(ms, Ordering::SeqCst);
    }
}
