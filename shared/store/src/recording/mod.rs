//! Writing down what the store's callers learn, for a history that can be judged afterwards.
//!
//! Nobody records unless asked to: then each call costs one look at an `Option`. What an answer is
//! written down as is in `answers`; the times between which a call took effect are in `server_time`.

pub(crate) mod answers;
mod server_time;

use std::sync::{Arc, Mutex, PoisonError};

use tokio::time::Instant;
use vestibule_domain::{RoomId, RoomSnapshot};
use vestibule_history::{Call, Event, Recorder, What};

use self::server_time::{ServerTime, Span};
use crate::{Clock, Store, StoreError};

/// Where events go, and who knows them.
#[derive(Debug)]
pub(crate) struct Recording {
    recorder: Arc<dyn Recorder>,
    by: Arc<str>,
    clock: Clock,
    time: Mutex<ServerTime>,
}

/// A call that is being recorded. Dropped before it is answered, its outcome is unknown.
#[derive(Debug)]
pub(crate) struct Noting {
    recording: Arc<Recording>,
    room: Option<RoomId>,
    sent: Instant,
    /// The true time at which it was sent, where there is one.
    sent_ms: Option<u64>,
    calls: Vec<Call>,
}

// === impl Store ===

impl Store {
    /// The same store, whose calls are recorded as those of `by`.
    #[must_use]
    pub fn recorded(mut self, by: &str, recorder: Arc<dyn Recorder>) -> Self {
        let clock = self.clock().clone();
        self.recording =
            Some(Arc::new(Recording { recorder, by: by.into(), clock, time: Mutex::default() }));
        self
    }

    /// Begins to record `calls`, which are made by the next call to Redis; `None`: nobody records.
    pub(crate) async fn noting(
        &self,
        room: Option<&RoomId>,
        calls: impl FnOnce() -> Vec<Call>,
    ) -> Option<Noting> {
        let recording = self.recording.as_ref()?;
        self.keep_time(recording).await;
        Some(Noting::begin(recording, room, calls()))
    }

    /// Asks for Redis's time if it is not known well enough. If Redis does not answer, the call that
    /// follows will not be answered either.
    async fn keep_time(&self, recording: &Recording) {
        let known = recording.true_ms().is_some();
        if !known && recording.time().is_due(Instant::now()) {
            let _ = self.server_now_ms().await;
        }
    }

    /// Notes Redis's time in the answer to a call that was sent at `sent`.
    pub(crate) fn note_time(&self, sent: Instant, redis_ms: u64) {
        if let Some(recording) = &self.recording {
            recording.time().learn(sent, Instant::now(), redis_ms);
        }
    }

    /// Records a snapshot that was pushed.
    pub(crate) fn note_push(&self, snapshot: &RoomSnapshot) {
        if let Some(recording) = &self.recording {
            let noting = Noting::begin(recording, Some(&snapshot.room), Vec::new());
            noting.note(vec![answers::snapshot(snapshot, true)]);
        }
    }
}

// === impl Noting ===

impl Noting {
    fn begin(recording: &Arc<Recording>, room: Option<&RoomId>, calls: Vec<Call>) -> Self {
        let noting = Self {
            recording: Arc::clone(recording),
            room: room.cloned(),
            sent: Instant::now(),
            sent_ms: recording.true_ms(),
            calls,
        };
        for call in noting.calls.iter().filter(|call| call.is_seen_by_others()) {
            noting.write(What::Sent(call.clone()), true);
        }
        noting
    }

    /// Records the outcome: what an answer means (`answers`), and Redis's time in it if there is one.
    pub(crate) fn settle<T>(
        self,
        outcome: &Result<T, StoreError>,
        redis_ms: impl FnOnce(&T) -> Option<u64>,
        answers: impl FnOnce(&T) -> Vec<What>,
    ) {
        match outcome {
            Ok(answer) => {
                if let Some(redis_ms) = redis_ms(answer) {
                    self.recording.time().learn(self.sent, Instant::now(), redis_ms);
                }
                self.note(answers(answer));
            }
            Err(StoreError::RoomMissing) => self.note(vec![What::RoomMissing]),
            // Nothing was done.
            Err(StoreError::Fenced { .. } | StoreError::Overloaded | StoreError::Rewound) => {
                self.note(Vec::new());
            }
            Err(_) => drop(self),
        }
    }

    /// As [`Self::settle`], where the answer has no time.
    pub(crate) fn answer<T>(self, outcome: &Result<T, StoreError>, what: impl FnOnce(&T) -> What) {
        self.settle(outcome, |_| None, |answer| vec![what(answer)]);
    }

    /// The time, ms, or a little earlier; 0: it is not known.
    pub(crate) fn now_ms(&self) -> u64 {
        self.span().map_or(0, |span| span.began_ms)
    }

    /// Records what became known. The calls' outcome is known with it.
    pub(crate) fn note(mut self, answers: Vec<What>) {
        self.calls.clear();
        for what in answers {
            self.write(what, false);
        }
    }

    /// Writes an event. That a call is sent is known from its beginning on.
    fn write(&self, what: What, is_sent: bool) {
        let Some(Span { began_ms, at_ms }) = self.span() else { return };
        let at_ms = if is_sent { began_ms } else { at_ms };
        let (by, room) = (Arc::clone(&self.recording.by), self.room.clone());
        self.recording.recorder.record(Event { at_ms, began_ms, by, room, what });
    }

    /// Between which times the call took effect; `None`: Redis's time is not known yet.
    fn span(&self) -> Option<Span> {
        if let (Some(began_ms), Some(at_ms)) = (self.sent_ms, self.recording.true_ms()) {
            return Some(Span { began_ms, at_ms });
        }
        self.recording.time().span(self.sent, Instant::now())
    }
}

impl Drop for Noting {
    fn drop(&mut self) {
        for call in std::mem::take(&mut self.calls) {
            self.write(What::Unknown(call), false);
        }
    }
}

// === impl Recording ===

impl Recording {
    /// The time, where it is not Redis's alone.
    fn true_ms(&self) -> Option<u64> {
        self.recorder.true_ms().or_else(|| match &self.clock {
            Clock::Manual(clock) => Some(clock.now_ms()),
            Clock::Server => None,
        })
    }

    fn time(&self) -> std::sync::MutexGuard<'_, ServerTime> {
        self.time.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
