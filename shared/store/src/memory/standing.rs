//! Whether the others count this service among those that run, and so ask it what it has seen.
//!
//! A leader takes whoever has not announced itself for a while for stopped: see `feed/witnesses.rs`. So nobody relies on
//! what it has changed in Redis unless it has announced itself a moment before. Nor does it suffice to say so after a
//! silence: this Redis may be one that all others have left, where nobody hears it. So whoever was silent changes nothing
//! until a controller has announced itself there, too.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

use crate::is_controller;

/// Who has announced itself so long ago does so again before it changes anything.
const FRESH: Duration = Duration::from_millis(1_500);
/// An answer is relied on within this time of the last announcement: less than the others wait before they take this
/// service for stopped.
const RELIED_ON: Duration = Duration::from_millis(2_500);

/// What this service has announced; nothing, if it does not take part: a tool, or a test.
#[derive(Debug, Default)]
pub(crate) struct Standing(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    last: Option<Announced>,
    /// When it first spoke after a silence, by Redis's clock, ms, if no controller has been heard since.
    back_ms: Option<u64>,
}

/// An announcement: by whom, what it said, and when it was sent.
#[derive(Debug, Clone)]
pub(crate) struct Announced {
    pub(crate) instance: String,
    pub(crate) said: String,
    pub(crate) at: Instant,
}

// === impl Standing ===

impl Standing {
    /// Takes in what was announced, and when each service that runs did so last, by Redis's clock, ms.
    pub(crate) fn note(&self, announced: Announced, seen: &BTreeMap<String, u64>) {
        let mut state = self.lock();
        state.back_ms = state.heard_by_nobody_since(&announced, seen);
        if state.back_ms.is_none() {
            state.last = Some(announced);
        }
    }

    /// This service stops.
    pub(crate) fn end(&self) {
        *self.lock() = State::default();
    }

    /// What is to be announced again before anything is changed.
    pub(crate) fn stale(&self) -> Option<Announced> {
        self.lock().last.as_ref().filter(|announced| announced.at.elapsed() > FRESH).cloned()
    }

    /// Whether it was silent, and no controller has been heard since it spoke again.
    pub(crate) fn is_alone(&self) -> bool {
        self.lock().back_ms.is_some()
    }

    /// Whether an answer that has come now can be relied on.
    pub(crate) fn is_relied_on(&self) -> bool {
        let state = self.lock();
        state.last.as_ref().is_none_or(|announced| announced.at.elapsed() <= RELIED_ON)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// === impl State ===

impl State {
    /// Since when, by Redis's clock, whoever announces this after a silence has spoken while no controller has. Nobody
    /// waits where no controller runs; and of two sides of a split each has its own controllers, which know of this.
    fn heard_by_nobody_since(
        &self,
        announced: &Announced,
        seen: &BTreeMap<String, u64>,
    ) -> Option<u64> {
        let was_silent = self.last.as_ref().is_some_and(|last| announced.at - last.at > FRESH);
        if !was_silent || is_controller(&announced.instance) {
            return None;
        }
        let own = seen.get(&announced.instance).copied()?;
        // The server's clock may have been set back.
        let back_ms = self.back_ms.map_or(own, |back_ms| back_ms.min(own));
        let mut controllers = seen.iter().filter(|(name, _)| is_controller(name)).peekable();
        let is_heard = controllers.peek().is_none() || controllers.any(|(_, ms)| *ms > back_ms);
        (!is_heard).then_some(back_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn announced() -> Announced {
        Announced { instance: "a".to_owned(), said: String::new(), at: Instant::now() }
    }

    fn seen(all: &[(&str, u64)]) -> BTreeMap<String, u64> {
        all.iter().map(|(name, ms)| ((*name).to_owned(), *ms)).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn who_was_silent_announces_itself_first_and_relies_on_nothing_late() {
        let standing = Standing::default();
        assert!(standing.stale().is_none() && standing.is_relied_on(), "it takes no part");
        standing.note(announced(), &seen(&[("a", 1)]));
        tokio::time::advance(FRESH).await;
        assert!(standing.stale().is_none());
        tokio::time::advance(Duration::from_millis(1)).await;
        assert!(standing.stale().is_some() && standing.is_relied_on());
        tokio::time::advance(RELIED_ON.saturating_sub(FRESH)).await;
        assert!(!standing.is_relied_on());
        standing.end();
        assert!(standing.stale().is_none() && standing.is_relied_on(), "it has stopped");
    }

    #[tokio::test(start_paused = true)]
    async fn who_was_silent_is_alone_until_a_controller_is_heard() {
        let standing = Standing::default();
        let alone_at = async |after_ms, all: &[(&str, u64)]| {
            tokio::time::advance(Duration::from_millis(after_ms)).await;
            standing.note(announced(), &seen(all));
            standing.is_alone()
        };
        assert!(!alone_at(0, &[("a", 10), ("controller-b", 5)]).await, "it begins");
        assert!(!alone_at(1_500, &[("a", 1_510), ("controller-b", 5)]).await, "it was not silent");
        assert!(!alone_at(9_000, &[("a", 10_510)]).await, "there is no controller");
        assert!(alone_at(9_000, &[("a", 19_510), ("controller-b", 19_500)]).await);
        assert!(alone_at(500, &[("a", 20_010), ("controller-b", 19_510)]).await);
        assert!(standing.stale().is_some(), "it has to go on");
        assert!(!alone_at(500, &[("a", 20_510), ("controller-b", 19_511)]).await);
        assert!(standing.stale().is_none());
        assert!(alone_at(9_000, &[("a", 29_510), ("controller-b", 29_500)]).await);
        assert!(!alone_at(500, &[("a", 10), ("controller-b", 29_500)]).await, "of before the jump");
        standing.end();
        assert!(!standing.is_alone());
    }
}
