//! Saying something that happens again and again only now and then.

use tokio::time::{Duration, Instant};

/// Counts what happens, and says at most once in a while how often it did.
#[derive(Debug)]
pub struct Sparingly {
    pause: Duration,
    unsaid: u64,
    quiet_until: Option<Instant>,
}

// === impl Sparingly ===

impl Sparingly {
    /// At most once in `pause`.
    #[must_use]
    pub const fn new(pause: Duration) -> Self {
        Self { pause, unsaid: 0, quiet_until: None }
    }

    /// Notes that it happened. `Some`: say it now, and that it happened so often since it was last said.
    pub fn note(&mut self, now: Instant) -> Option<u64> {
        self.unsaid += 1;
        if self.quiet_until.is_some_and(|until| now < until) {
            return None;
        }
        self.quiet_until = Some(now + self.pause);
        Some(std::mem::take(&mut self.unsaid))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_said_at_once_and_then_now_and_then() {
        let pause = Duration::from_secs(10);
        let mut sparingly = Sparingly::new(pause);
        let start = Instant::now();
        assert_eq!(sparingly.note(start), Some(1));
        assert_eq!(sparingly.note(start), None);
        assert_eq!(sparingly.note(start + pause / 2), None);
        assert_eq!(sparingly.note(start + pause), Some(3));
        assert_eq!(sparingly.note(start + pause * 3), Some(1));
    }
}
