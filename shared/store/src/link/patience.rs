//! How long replicas are waited for: as long as was asked, but where they have been missed only a tenth of it, until
//! one caller a second finds them again. So while a replica is away, and until the next one follows a new primary, no
//! call is held up by it much longer than by none.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

/// How long nobody waits in full after replicas were missed.
const PAUSE: Duration = Duration::from_secs(1);
/// The part of the time that the others wait.
const SHORT: u32 = 10;

/// What is known of the replicas of one server.
#[derive(Debug, Default)]
pub(super) struct Patience {
    /// When somebody last found too few, or began to look for them again.
    missed: Mutex<Option<Instant>>,
}

// === impl Patience ===

impl Patience {
    /// How long to wait now, if `within` was asked for; never nothing, which Redis would take for no end.
    pub(super) fn lasts(&self, within: Duration) -> Duration {
        let now = Instant::now();
        let mut missed = self.missed();
        match *missed {
            None => within,
            Some(since) if now < since + PAUSE => (within / SHORT).max(Duration::from_millis(1)),
            Some(_) => {
                *missed = Some(now);
                within
            }
        }
    }

    /// Notes whether enough were found; `waited`: whether in full.
    pub(super) fn note(&self, enough: bool, waited: bool) {
        let mut missed = self.missed();
        if enough {
            *missed = None;
        } else if waited {
            *missed = Some(Instant::now());
        }
    }

    fn missed(&self) -> MutexGuard<'_, Option<Instant>> {
        self.missed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    const ASKED: Duration = Duration::from_millis(100);
    const BRIEF: Duration = Duration::from_millis(10);

    #[tokio::test(start_paused = true)]
    async fn missed_replicas_are_looked_for_by_one_caller_a_second() {
        let patience = Patience::default();
        assert_eq!([patience.lasts(ASKED), patience.lasts(ASKED)], [ASKED; 2]);
        patience.note(false, true);
        assert_eq!([patience.lasts(ASKED), patience.lasts(ASKED)], [BRIEF; 2]);
        advance(PAUSE.checked_sub(BRIEF).unwrap()).await;
        patience.note(false, false);
        advance(BRIEF).await;
        assert_eq!([patience.lasts(ASKED), patience.lasts(ASKED)], [ASKED, BRIEF]);
        advance(PAUSE).await;
        patience.note(false, true);
        assert_eq!(patience.lasts(ASKED), BRIEF, "it took as long as the pause");
    }

    #[tokio::test(start_paused = true)]
    async fn replicas_that_are_back_are_waited_for_as_before() {
        let patience = Patience::default();
        patience.note(false, true);
        assert_eq!(patience.lasts(ASKED), BRIEF);
        patience.note(true, false);
        assert_eq!(patience.lasts(ASKED), ASKED);
    }

    #[tokio::test(start_paused = true)]
    async fn redis_is_never_told_to_wait_without_end() {
        let patience = Patience::default();
        patience.note(false, true);
        assert_eq!(patience.lasts(Duration::from_millis(5)), Duration::from_millis(1));
    }
}
