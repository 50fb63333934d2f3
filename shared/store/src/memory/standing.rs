//! Whether the others count this service among those that run, and so ask it what it has seen.
//!
//! A leader takes whoever has not announced itself for a while for stopped: see `feed/witnesses.rs`. So nobody relies on
//! what it has changed in Redis unless it has announced itself a moment before.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

/// Who has announced itself so long ago does so again before it changes anything.
const FRESH: Duration = Duration::from_millis(1_500);
/// An answer is relied on within this time of the last announcement: less than the others wait before they take this
/// service for stopped.
const RELIED_ON: Duration = Duration::from_millis(2_500);

/// What this service has announced; nothing, if it does not take part: a tool, or a test.
#[derive(Debug, Default)]
pub(crate) struct Standing(Mutex<Option<Announced>>);

/// An announcement: by whom, what it said, and when it was sent.
#[derive(Debug, Clone)]
pub(crate) struct Announced {
    pub(crate) instance: String,
    pub(crate) said: String,
    pub(crate) at: Instant,
}

// === impl Standing ===

impl Standing {
    /// Takes in what was announced; `None`: that this service stops.
    pub(crate) fn note(&self, announced: Option<Announced>) {
        *self.lock() = announced;
    }

    /// What is to be announced again before anything is changed.
    pub(crate) fn stale(&self) -> Option<Announced> {
        self.lock().as_ref().filter(|announced| announced.at.elapsed() > FRESH).cloned()
    }

    /// Whether an answer that has come now can be relied on.
    pub(crate) fn is_relied_on(&self) -> bool {
        self.lock().as_ref().is_none_or(|announced| announced.at.elapsed() <= RELIED_ON)
    }

    fn lock(&self) -> MutexGuard<'_, Option<Announced>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn who_was_silent_announces_itself_first_and_relies_on_nothing_late() {
        let standing = Standing::default();
        assert!(standing.stale().is_none() && standing.is_relied_on(), "it takes no part");
        let announced =
            Announced { instance: "a".to_owned(), said: String::new(), at: Instant::now() };
        standing.note(Some(announced));
        tokio::time::advance(FRESH).await;
        assert!(standing.stale().is_none());
        tokio::time::advance(Duration::from_millis(1)).await;
        assert!(standing.stale().is_some() && standing.is_relied_on());
        tokio::time::advance(RELIED_ON.saturating_sub(FRESH)).await;
        assert!(!standing.is_relied_on());
        standing.note(None);
        assert!(standing.stale().is_none() && standing.is_relied_on(), "it has stopped");
    }
}
