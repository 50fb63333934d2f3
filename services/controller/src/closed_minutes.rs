//! Up to when this instance has closed minutes in all rooms that it serves: how `loops/roll_up.rs` gets on, for
//! whoever watches it.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The end of the last minute that is closed, unix seconds; 0: none had to be yet.
#[derive(Debug, Default)]
pub(crate) struct ClosedMinutes(AtomicU64);

// === impl ClosedMinutes ===

impl ClosedMinutes {
    /// Begins to close minutes at `now` (unix seconds), if it has not begun: those before are others'.
    pub(crate) fn begin(&self, now: u64) {
        let _ = self.0.compare_exchange(0, now, Relaxed, Relaxed);
    }

    /// Notes that all minutes up to `end` (unix seconds) are closed.
    pub(crate) fn note(&self, end: u64) {
        self.0.store(end, Relaxed);
    }

    /// Up to when; `None`: it has not begun.
    pub(crate) fn upto(&self) -> Option<u64> {
        Some(self.0.load(Relaxed)).filter(|upto| *upto > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_just_begun_is_not_behind() {
        let closed = ClosedMinutes::default();
        assert_eq!(closed.upto(), None);
        closed.begin(90);
        assert_eq!(closed.upto(), Some(90));
        closed.note(120);
        closed.begin(130);
        assert_eq!(closed.upto(), Some(120), "it goes on");
    }
}
