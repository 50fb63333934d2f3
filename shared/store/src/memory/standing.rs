//! Whether the others count this service among those that run, and so ask it what it has seen.
//!
//! A leader takes whoever has not announced itself for a while for stopped: see `feed/witnesses.rs`. So nobody relies on
//! what it has changed in Redis unless it has announced itself a moment before. Nor does it suffice to say so: this Redis
//! may be one that all others have left, where nobody hears it. So whoever has just begun, was silent, or finds another
//! server than before, changes nothing until a controller has announced itself there, too. Who has not noticed that it
//! talks to another server is told so by the scripts (`lib/incarnation.lua`).

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{sync, time::Instant};

use crate::is_controller;

/// Who has announced itself so long ago does so again before it changes anything.
const FRESH: Duration = Duration::from_millis(1_500);
/// An answer is relied on within this time of the last announcement: less than the others wait before they take this
/// service for stopped.
const RELIED_ON: Duration = Duration::from_millis(2_500);
/// Who was not heard for so long could claim for nobody: positions do not expire by that.
const CUT_OFF: Duration = Duration::from_secs(10);
/// How soon whoever waits to be heard of announces itself again, to learn whether it was.
const ASKS_AGAIN: Duration = Duration::from_millis(100);

/// What this service has announced; nothing, if it does not take part: a tool, or a test.
#[derive(Debug, Default)]
pub(crate) struct Standing {
    state: Mutex<State>,
    /// Held by whoever announces it for all that wait.
    speaks: sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct State {
    /// The last announcement, and the run id of the server to which it was made.
    said: Option<Announced>,
    said_to: String,
    /// When the last was sent that is known to be heard.
    heard: Option<Instant>,
    /// Since when it has been heard all the time, but for short breaks.
    able_since: Option<Instant>,
    /// The run id of the server where it is heard; empty: not known. Nobody asks a controller, which terms fence.
    server: String,
    /// When it first spoke after a silence, by Redis's clock, ms, if no controller has been heard since,
    back_ms: Option<u64>,
    /// and by its own.
    alone_since: Option<Instant>,
    /// A script has said that this is another server.
    has_moved: bool,
    /// Rooms are on other servers than announcements, behind one address: no server is told.
    has_several: bool,
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
    /// Takes in what was announced to this `server`, and when each service that runs did so last, by Redis's clock, ms.
    /// Returns whether a script has said that this is another server, and it is not.
    pub(crate) fn note(
        &self,
        announced: Announced,
        server: &str,
        seen: &BTreeMap<String, u64>,
    ) -> bool {
        let mut state = self.lock();
        let server = if state.has_several { "" } else { server };
        let is_contradicted = state.has_moved && state.server == server && !server.is_empty();
        let alone_since = state.alone_since.filter(|_| state.said_to == server);
        state.back_ms = state.heard_by_nobody_since(&announced, server, seen);
        state.alone_since = state.back_ms.map(|_| alone_since.unwrap_or(announced.at));
        state.has_moved = false;
        if state.back_ms.is_none() {
            let was_cut_off = state.heard.is_none_or(|heard| announced.at - heard > CUT_OFF);
            state.able_since = state.able_since.filter(|_| !was_cut_off).or(Some(announced.at));
            state.heard = Some(announced.at);
            let asked_at = if is_controller(&announced.instance) { "" } else { server };
            asked_at.clone_into(&mut state.server);
        }
        state.said = Some(announced);
        server.clone_into(&mut state.said_to);
        is_contradicted
    }

    /// Rooms are on several servers, of which announcements reach one.
    pub(crate) fn note_several(&self) {
        let mut state = self.lock();
        state.has_several = true;
        state.server.clear();
        state.said_to.clear();
    }

    /// This service stops.
    pub(crate) fn end(&self) {
        *self.lock() = State::default();
    }

    /// What is to be announced again before anything is changed, unless somebody does so already.
    pub(crate) fn to_say(&self) -> Option<(Announced, sync::MutexGuard<'_, ()>)> {
        self.stale()?;
        let speaks = self.speaks.try_lock().ok()?;
        Some((self.stale()?, speaks))
    }

    /// Whether something may be changed.
    pub(crate) fn is_heard(&self) -> bool {
        self.stale().is_none() && !self.is_alone()
    }

    /// How long no controller has been heard since it spoke after a silence.
    pub(crate) fn alone_for(&self) -> Duration {
        self.lock().alone_since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// For how long it has been able to change something, ms; `None`: always, as who takes no part.
    pub(crate) fn able_ms(&self) -> Option<u64> {
        let state = self.lock();
        let since = state.able_since?;
        let is_cut_off = state.heard.is_some_and(|heard| heard.elapsed() > CUT_OFF);
        let able = if is_cut_off { Duration::ZERO } else { since.elapsed() };
        Some(u64::try_from(able.as_millis()).unwrap_or(u64::MAX))
    }

    /// A script has said that this is not the server where this service is heard.
    pub(crate) fn note_moved(&self) {
        self.lock().has_moved = true;
    }

    /// The run id of the server where this service is heard; empty: it need not be, or that is not known.
    pub(crate) fn server(&self) -> String {
        self.lock().server.clone()
    }

    fn stale(&self) -> Option<Announced> {
        let state = self.lock();
        let is_due = match (state.back_ms, state.heard) {
            (None, Some(heard)) => state.has_moved || heard.elapsed() > FRESH,
            _ => state.said.as_ref().is_some_and(|said| said.at.elapsed() >= ASKS_AGAIN),
        };
        state.said.as_ref().filter(|_| is_due).cloned()
    }

    /// Whether no controller has been heard since it spoke after a silence.
    fn is_alone(&self) -> bool {
        self.lock().back_ms.is_some()
    }

    /// Whether an answer that has come now can be relied on.
    pub(crate) fn is_relied_on(&self) -> bool {
        self.lock().heard.is_none_or(|heard| heard.elapsed() <= RELIED_ON)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// === impl State ===

impl State {
    /// Since when, by Redis's clock, whoever announces this after a silence has spoken while no controller has. Nobody
    /// waits where no controller runs; and of two sides of a split each has its own controllers, which know of this.
    fn heard_by_nobody_since(
        &self,
        announced: &Announced,
        server: &str,
        seen: &BTreeMap<String, u64>,
    ) -> Option<u64> {
        let was_heard = self.heard.is_some_and(|heard| announced.at - heard <= FRESH);
        if was_heard && self.server == server || is_controller(&announced.instance) {
            return None;
        }
        let own = seen.get(&announced.instance).copied()?;
        // The server's clock may have been set back.
        let back_ms = self.back_ms.filter(|_| self.said_to == server);
        let back_ms = back_ms.map_or(own, |back_ms| back_ms.min(own));
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
        standing.note(announced(), "s", &seen(&[("a", 1)]));
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
    async fn who_was_cut_off_has_been_able_since_it_is_heard_again() {
        let standing = Standing::default();
        assert_eq!(standing.able_ms(), None, "it takes no part");
        let able_after = async |after: Duration, all: &[(&str, u64)]| {
            tokio::time::advance(after).await;
            standing.note(announced(), "s", &seen(all));
            standing.able_ms()
        };
        assert_eq!(able_after(Duration::ZERO, &[("a", 1)]).await, Some(0), "it begins");
        assert_eq!(able_after(CUT_OFF, &[("a", 2)]).await, Some(10_000), "a short break");
        let later = CUT_OFF + Duration::from_millis(1);
        tokio::time::advance(later).await;
        assert_eq!(standing.able_ms(), Some(0), "it was silent");
        assert_eq!(able_after(Duration::ZERO, &[("a", 3)]).await, Some(0));
        assert_eq!(able_after(Duration::from_secs(1), &[("a", 4)]).await, Some(1_000));
        let alone = [("a", 90_000), ("controller-b", 4)];
        tokio::time::advance(later).await;
        standing.note(announced(), "t", &seen(&alone));
        tokio::time::advance(Duration::from_mins(1)).await;
        standing.note(announced(), "s", &seen(&[("a", 150_000), ("controller-b", 150_001)]));
        assert_eq!(standing.able_ms(), Some(0), "it was alone on another server");
    }

    #[tokio::test(start_paused = true)]
    async fn who_was_silent_is_alone_until_a_controller_is_heard() {
        let standing = Standing::default();
        let alone_at = async |after_ms, all: &[(&str, u64)]| {
            tokio::time::advance(Duration::from_millis(after_ms)).await;
            standing.note(announced(), "s", &seen(all));
            standing.is_alone()
        };
        assert!(alone_at(0, &[("a", 10), ("controller-b", 5)]).await, "it begins");
        assert!(standing.stale().is_none());
        tokio::time::advance(ASKS_AGAIN).await;
        assert!(standing.stale().is_some(), "it asks again");
        assert!(!alone_at(0, &[("a", 110), ("controller-b", 11)]).await);
        assert!(!alone_at(1_500, &[("a", 1_510), ("controller-b", 5)]).await, "it was not silent");
        assert!(!alone_at(9_000, &[("a", 10_510)]).await, "there is no controller");
        assert!(alone_at(9_000, &[("a", 19_510), ("controller-b", 19_500)]).await);
        assert!(alone_at(500, &[("a", 20_010), ("controller-b", 19_510)]).await);
        tokio::time::advance(ASKS_AGAIN).await;
        assert!(standing.stale().is_some(), "it has to go on");
        assert!(!alone_at(500, &[("a", 20_510), ("controller-b", 19_511)]).await);
        assert!(standing.stale().is_none());
        assert!(alone_at(9_000, &[("a", 29_510), ("controller-b", 29_500)]).await);
        assert!(!alone_at(500, &[("a", 10), ("controller-b", 29_500)]).await, "of before the jump");
        standing.end();
        assert!(!standing.is_alone());
    }

    #[tokio::test(start_paused = true)]
    async fn who_is_heard_on_another_server_is_not_heard_on_this_one() {
        let standing = Standing::default();
        let note = |server, all: &[(&str, u64)]| standing.note(announced(), server, &seen(all));
        note("s", &[("a", 10), ("controller-b", 11)]);
        assert_eq!((standing.server().as_str(), standing.is_alone()), ("s", false));
        note("s", &[("a", 500), ("controller-b", 11)]);
        assert!(!standing.is_alone());
        note("t", &[("a", 500), ("controller-b", 499)]);
        assert_eq!((standing.server().as_str(), standing.is_alone()), ("s", true));
        note("t", &[("a", 600), ("controller-b", 501)]);
        assert_eq!((standing.server().as_str(), standing.is_alone()), ("t", false));
        assert!(standing.stale().is_none());
        standing.note_moved();
        assert!(standing.stale().is_some(), "a script has said so");
        note("u", &[("a", 700)]);
        assert!(!standing.is_alone() && standing.stale().is_none(), "there is no controller");
    }
}
