//! Where all visitors of a crowd write at once, and its clock.

use std::sync::{Mutex, PoisonError};

use tokio::time::Instant;

use super::{Outcome, Reply};
use crate::{
    crowd::{Call, number::index},
    record::{Book, RunRecord, Tally},
};

/// The book of a crowd under way. Nobody holds it for longer than it takes to write a line.
#[derive(Debug)]
pub(crate) struct Recorder {
    start: Instant,
    book: Mutex<Book>,
}

// === impl Recorder ===

impl Recorder {
    /// A blank book for so many visitors; the run starts at `start`.
    pub(crate) fn new(visitors: usize, start: Instant) -> Self {
        Self { start, book: Mutex::new(Book::new(visitors)) }
    }

    /// When the run started.
    pub(crate) fn start(&self) -> Instant {
        self.start
    }

    /// Seconds from the run's start to `at`.
    pub(crate) fn since_start(&self, at: Instant) -> f64 {
        at.saturating_duration_since(self.start).as_secs_f64()
    }

    /// Writes into the book. One half written by a task that panicked is still worth reading.
    pub(crate) fn write<T>(&self, write: impl FnOnce(&mut Book) -> T) -> T {
        write(&mut self.book.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Notes a call.
    pub(crate) fn note_call<T>(&self, call: Call, reply: &Reply<T>) {
        let second = index(self.since_start(reply.sent));
        self.write(|book| {
            book.calls.count(call, second);
            let queued = micros(reply.queued);
            book.calls.longest_queued = book.calls.longest_queued.max(queued);
            let is_answered = matches!(reply.outcome, Outcome::Answer(_) | Outcome::Left);
            if let Some(latency) = reply.latency.filter(|_| is_answered) {
                book.calls.answered(call, micros(latency));
            }
            if let Some(error) = reply.outcome.error() {
                book.calls.failed(error);
            }
        });
    }

    /// How many visitors are where, and how many calls went wrong, sheds not counted.
    pub(crate) fn tally(&self) -> (Tally, u64) {
        self.write(|book| (book.tally(), book.calls.errors_but_sheds()))
    }

    /// Closes the book. What is still written then is lost.
    pub(crate) fn close(&self, now: Instant) -> RunRecord {
        self.write(std::mem::take).close(self.since_start(now))
    }
}

fn micros(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
