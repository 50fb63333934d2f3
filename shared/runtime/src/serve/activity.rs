//! Whether a connection has a request under way, and since when not: what its own task and the one that
//! accepts connections know of each other.

use std::sync::{
    Arc,
    atomic::{AtomicU32, AtomicU64, Ordering::AcqRel, Ordering::Acquire, Ordering::Relaxed},
};

use tokio::time::{Duration, Instant};

/// A request is under way.
const BUSY: u64 = 0;
/// The connection shall end: no further request is answered.
const CLOSED: u64 = u64::MAX;
/// Nothing of the kind is awaited.
const NONE: u64 = 0;

/// What is known of one connection. Times are microseconds since it was opened, and at least 1.
#[derive(Debug)]
pub(super) struct Activity {
    opened: Instant,
    /// [`BUSY`], [`CLOSED`], or since when no request is under way.
    state: AtomicU64,
    /// Since when a request's head is awaited of which a part has come; or [`NONE`].
    head_since: AtomicU64,
    /// Since when a request's body is awaited, or [`NONE`].
    body_since: AtomicU64,
    /// Since when the client takes nothing of what it is sent, or [`NONE`].
    blocked_since: AtomicU64,
    requests: AtomicU32,
}

/// A request under way: until it is dropped, the connection is busy.
#[derive(Debug)]
pub(super) struct UnderWay(Arc<Activity>);

/// Why a connection is kept no longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Silence {
    /// A request's head took too long. That of the first request begins with the connection.
    Head,
    /// No further request came.
    Idle,
    /// A request's body took too long.
    Body,
    /// Nothing of an answer was taken for too long.
    Answer,
}

/// How long a connection may be silent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience {
    /// While a request's head is awaited.
    pub(super) head: Duration,
    /// Between requests.
    pub(super) idle: Duration,
    /// While a request's body is awaited, or that something of an answer is taken.
    pub(super) stall: Duration,
}

// === impl Activity ===

impl Activity {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            opened: now,
            state: AtomicU64::new(1),
            head_since: AtomicU64::new(1),
            body_since: AtomicU64::new(NONE),
            blocked_since: AtomicU64::new(NONE),
            requests: AtomicU32::new(0),
        }
    }

    /// Notes that a request has begun. `None`: the connection was closed just before.
    pub(super) fn begin(self: &Arc<Self>) -> Option<UnderWay> {
        if self.state.swap(BUSY, AcqRel) == CLOSED {
            self.state.store(CLOSED, Relaxed);
            return None;
        }
        self.head_since.store(NONE, Relaxed);
        self.requests.fetch_add(1, Relaxed);
        Some(UnderWay(Arc::clone(self)))
    }

    /// Notes that bytes have come.
    pub(super) fn note_bytes(&self) {
        let awaits_head = self.head_since.load(Relaxed) == NONE;
        if awaits_head && self.state.load(Relaxed) != BUSY {
            self.head_since.store(self.at(Instant::now()), Relaxed);
        }
    }

    /// Notes that a request's body is awaited.
    pub(super) fn await_body(&self) {
        self.body_since.store(self.at(Instant::now()), Relaxed);
    }

    /// Notes that it is awaited no longer.
    pub(super) fn end_body(&self) {
        self.body_since.store(NONE, Relaxed);
    }

    /// Notes whether the client takes what it is sent.
    pub(super) fn note_write(&self, is_blocked: bool) {
        let was_blocked = self.blocked_since.load(Relaxed) != NONE;
        if is_blocked && !was_blocked {
            self.blocked_since.store(self.at(Instant::now()), Relaxed);
        } else if was_blocked && !is_blocked {
            self.blocked_since.store(NONE, Relaxed);
        }
    }

    /// Closes the connection to further requests, unless one has begun since `idle_since`.
    pub(super) fn close(&self, idle_since: Instant) -> bool {
        let expected = self.at(idle_since);
        self.state.compare_exchange(expected, CLOSED, AcqRel, Relaxed).is_ok()
    }

    /// Since when no request is under way; `None` while one is.
    pub(super) fn idle_since(&self) -> Option<Instant> {
        match self.state.load(Acquire) {
            BUSY | CLOSED => None,
            since => Some(self.time(since)),
        }
    }

    /// Requests so far.
    pub(super) fn requests(&self) -> u32 {
        self.requests.load(Relaxed)
    }

    /// When it has been silent for too long, if nothing comes until then; `None` while only we are to act.
    pub(super) fn silent_at(&self, patience: &Patience) -> Option<(Instant, Silence)> {
        let since = |at: &AtomicU64| match at.load(Relaxed) {
            NONE => None,
            since => Some(self.time(since)),
        };
        if let Some(since) = since(&self.blocked_since) {
            return Some((since + patience.stall, Silence::Answer));
        }
        if let Some(since) = since(&self.body_since) {
            return Some((since + patience.stall, Silence::Body));
        }
        let idle_since = self.idle_since()?;
        Some(match since(&self.head_since) {
            Some(since) => (since + patience.head, Silence::Head),
            None => (idle_since + patience.idle, Silence::Idle),
        })
    }

    fn at(&self, time: Instant) -> u64 {
        let since = time.saturating_duration_since(self.opened).as_micros();
        u64::try_from(since).unwrap_or(CLOSED - 2) + 1
    }

    fn time(&self, at: u64) -> Instant {
        self.opened + Duration::from_micros(at - 1)
    }
}

// === impl UnderWay ===

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.state.store(self.0.at(Instant::now()), Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: Duration = Duration::from_secs(30);
    const IDLE: Duration = Duration::from_secs(75);
    const STALL: Duration = Duration::from_secs(45);
    const PATIENCE: Patience = Patience { head: HEAD, idle: IDLE, stall: STALL };
    const SECOND: Duration = Duration::from_secs(1);

    fn activity() -> (Instant, Arc<Activity>) {
        let now = Instant::now();
        (now, Arc::new(Activity::new(now)))
    }

    #[tokio::test(start_paused = true)]
    async fn a_head_must_come_soon_and_a_further_request_within_its_time() {
        let (opened, activity) = activity();
        assert_eq!(activity.silent_at(&PATIENCE), Some((opened + HEAD, Silence::Head)));
        let request = activity.begin().unwrap();
        assert_eq!(activity.silent_at(&PATIENCE), None);
        activity.note_bytes();
        tokio::time::advance(SECOND).await;
        drop(request);
        let ended = opened + SECOND;
        assert_eq!(activity.silent_at(&PATIENCE), Some((ended + IDLE, Silence::Idle)));
        tokio::time::advance(SECOND).await;
        activity.note_bytes();
        tokio::time::advance(SECOND).await;
        activity.note_bytes();
        assert_eq!(activity.silent_at(&PATIENCE), Some((ended + SECOND + HEAD, Silence::Head)));
        assert_eq!(activity.requests(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_must_come_and_an_answer_must_be_taken() {
        let (opened, activity) = activity();
        let _request = activity.begin().unwrap();
        activity.await_body();
        assert_eq!(activity.silent_at(&PATIENCE), Some((opened + STALL, Silence::Body)));
        activity.end_body();
        assert_eq!(activity.silent_at(&PATIENCE), None);
        tokio::time::advance(SECOND).await;
        activity.note_write(true);
        tokio::time::advance(SECOND).await;
        activity.note_write(true);
        let blocked = opened + SECOND;
        assert_eq!(activity.silent_at(&PATIENCE), Some((blocked + STALL, Silence::Answer)));
        activity.note_write(false);
        assert_eq!(activity.silent_at(&PATIENCE), None);
    }

    #[tokio::test(start_paused = true)]
    async fn only_who_is_idle_still_is_closed() {
        let (opened, activity) = activity();
        let request = activity.begin().unwrap();
        assert_eq!(activity.idle_since(), None);
        assert!(!activity.close(opened));
        tokio::time::advance(SECOND).await;
        drop(request);
        assert!(!activity.close(opened), "it has been used since");
        let since = activity.idle_since().unwrap();
        assert_eq!(since, opened + SECOND);
        assert!(activity.close(since) && !activity.close(since));
        assert!(activity.begin().is_none() && activity.idle_since().is_none());
    }
}
