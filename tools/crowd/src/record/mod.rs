//! What is written down while the crowd is out there, and the plain record that is left of it for
//! the report. Nothing is calculated here. Times are seconds since the run's start.

mod told;

use std::{
    collections::BTreeMap,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use tokio::time::Instant;

pub(crate) use self::told::{Estimate, Told};
use crate::{
    answer::{Call, Outcome},
    client::Reply,
    number::{index, micros},
};

/// How a visit ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Left and gave the seat back.
    Left,
    /// The session ran out, by plan or because the stay was longer.
    RanOut,
    /// Closed the tab while waiting.
    Abandoned,
    /// Was told `expired`.
    Expired,
    /// Was told `closed`.
    Closed,
    /// Gave up after refusals or a long time without an answer.
    Failed,
}

/// Where a visitor is right now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Not here yet.
    Away,
    /// Asking to join.
    Joining,
    /// In the line.
    Waiting,
    /// Inside.
    Inside,
    /// The visit is over.
    Done,
}

/// What one visitor lived through.
#[derive(Debug, Clone, Default)]
pub(crate) struct VisitorRecord {
    /// When it first asked to join.
    pub(crate) arrived: Option<f64>,
    /// When the first answer came.
    pub(crate) joined: Option<f64>,
    /// Its identity in the room, as a number to compare by.
    pub(crate) request_id: Option<u128>,
    /// The number drawn on arrival.
    pub(crate) queue_number: Option<u64>,
    /// Where that stands in the line, as last told.
    pub(crate) position: Option<u64>,
    /// Whether it ever had to wait.
    pub(crate) waited: bool,
    /// When the answer `admitted` came.
    pub(crate) admitted: Option<f64>,
    /// When its seat was free again at the latest: the leave request was sent, or the session over.
    pub(crate) inside_until: Option<f64>,
    /// When and how the visit ended.
    pub(crate) ended: Option<(f64, Ending)>,
    /// The waits it was told.
    pub(crate) told: Told,
}

/// What the controller said at one moment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RoomSample {
    /// When.
    pub(crate) at: f64,
    /// Sessions inside.
    pub(crate) active_users: i64,
    /// Visitors waiting.
    pub(crate) waiting: i64,
    /// Admissions in the minute before.
    pub(crate) admitted_last_minute: Option<i64>,
}

/// Every call the crowd made, as far as the report needs it.
#[derive(Debug, Default)]
pub(crate) struct CallLog {
    /// Microseconds on the wire of the calls that were answered, by [`Call`].
    pub(crate) latencies: [Vec<u32>; 4],
    /// The longest wait for a free connection, in microseconds.
    pub(crate) longest_queued: u32,
    /// Failed calls by kind of failure.
    pub(crate) errors: BTreeMap<String, u64>,
    /// Check-ins sent in each second of the run.
    pub(crate) polls: Vec<u32>,
    /// Calls of any kind sent in each second of the run.
    pub(crate) all: Vec<u32>,
}

/// Counts for the progress bar.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    phases: [AtomicUsize; 5],
    errors: AtomicUsize,
}

/// Where everything is written down during a run.
#[derive(Debug)]
pub(crate) struct Recorder {
    start: Instant,
    visitors: Vec<Mutex<VisitorRecord>>,
    calls: Mutex<CallLog>,
    room: Mutex<Vec<RoomSample>>,
    tally: Tally,
}

/// What is left of a run: plain data.
#[derive(Debug, Default)]
pub(crate) struct RunRecord {
    /// One record per planned visitor, in order of arrival.
    pub(crate) visitors: Vec<VisitorRecord>,
    /// The calls.
    pub(crate) calls: CallLog,
    /// The controller's view, oldest first.
    pub(crate) room: Vec<RoomSample>,
    /// How long the run took.
    pub(crate) duration: f64,
    /// When the room began to let people in; waits are counted from here at the earliest.
    pub(crate) opened: f64,
}

// === impl VisitorRecord ===

impl VisitorRecord {
    /// Where the visitor is right now.
    pub(crate) fn phase(&self) -> Phase {
        if self.ended.is_some() {
            Phase::Done
        } else if self.admitted.is_some() {
            Phase::Inside
        } else if self.joined.is_some() {
            Phase::Waiting
        } else if self.arrived.is_some() {
            Phase::Joining
        } else {
            Phase::Away
        }
    }

    /// How the visit ended, if it did.
    pub(crate) fn ending(&self) -> Option<Ending> {
        self.ended.map(|(_, ending)| ending)
    }

    /// From joining to being admitted or giving up; `run_end` when neither happened. `None` when
    /// the visitor never had to wait.
    pub(crate) fn waiting(&self, run_end: f64) -> Option<(f64, f64)> {
        let from = self.joined.filter(|_| self.waited)?;
        Some((from, self.admitted.or(self.ended.map(|(at, _)| at)).unwrap_or(run_end)))
    }

    /// From being admitted to giving the seat back or the end of the session.
    pub(crate) fn inside(&self, run_end: f64) -> Option<(f64, f64)> {
        let from = self.admitted?;
        Some((from, self.inside_until.unwrap_or(run_end).clamp(from, run_end.max(from))))
    }
}

// === impl RunRecord ===

impl RunRecord {
    /// From when to when a visitor waited who was then admitted, counted from the opening at the
    /// earliest. `None` for those who never had to wait, or were never admitted.
    pub(crate) fn wait(&self, visitor: &VisitorRecord) -> Option<(f64, f64)> {
        let (from, until) = visitor.waiting(visitor.admitted?)?;
        Some((from.max(self.opened).min(until), until))
    }
}

// === impl CallLog ===

impl CallLog {
    /// Counts a call sent in that second of the run.
    pub(crate) fn count(&mut self, call: Call, second: usize) {
        bump(&mut self.all, second);
        if call == Call::Status {
            bump(&mut self.polls, second);
        }
    }

    fn note(&mut self, call: Call, reply: &Reply, second: usize) {
        if matches!(reply.outcome, Outcome::Answer(_) | Outcome::Left) {
            self.latencies[call as usize].push(micros(reply.latency));
        }
        if let Some(error) = reply.outcome.error() {
            *self.errors.entry(error).or_default() += 1;
        }
        self.longest_queued = self.longest_queued.max(micros(reply.queued));
        self.count(call, second);
    }
}

fn bump(seconds: &mut Vec<u32>, second: usize) {
    if seconds.len() <= second {
        seconds.resize(second + 1, 0);
    }
    seconds[second] += 1;
}

// === impl Tally ===

impl Tally {
    fn shift(&self, from: Phase, to: Phase) {
        if from != to {
            self.phases[from as usize].fetch_sub(1, Ordering::Relaxed);
            self.phases[to as usize].fetch_add(1, Ordering::Relaxed);
        }
    }

    /// How many visitors are in a phase.
    pub(crate) fn count(&self, phase: Phase) -> usize {
        self.phases[phase as usize].load(Ordering::Relaxed)
    }

    /// How many calls went wrong, sheds not counted.
    pub(crate) fn errors(&self) -> usize {
        self.errors.load(Ordering::Relaxed)
    }
}

// === impl Recorder ===

impl Recorder {
    /// A blank record for so many visitors; the run starts at `start`.
    pub(crate) fn new(visitors: usize, start: Instant) -> Self {
        let tally = Tally::default();
        tally.phases[Phase::Away as usize].store(visitors, Ordering::Relaxed);
        Self {
            start,
            visitors: (0..visitors).map(|_| Mutex::default()).collect(),
            calls: Mutex::default(),
            room: Mutex::default(),
            tally,
        }
    }

    /// Seconds from the run's start to `at`.
    pub(crate) fn since_start(&self, at: Instant) -> f64 {
        at.saturating_duration_since(self.start).as_secs_f64()
    }

    /// When the run started.
    pub(crate) fn start(&self) -> Instant {
        self.start
    }

    /// Writes into one visitor's record.
    pub(crate) fn write<T>(
        &self,
        visitor: usize,
        write: impl FnOnce(&mut VisitorRecord) -> T,
    ) -> T {
        let mut record = lock(&self.visitors[visitor]);
        let before = record.phase();
        let written = write(&mut record);
        self.tally.shift(before, record.phase());
        written
    }

    /// Notes a call.
    pub(crate) fn note_call(&self, call: Call, reply: &Reply) {
        let second = index(self.since_start(reply.sent));
        lock(&self.calls).note(call, reply, second);
        if !matches!(reply.outcome, Outcome::Answer(_) | Outcome::Left | Outcome::Shed { .. }) {
            self.tally.errors.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Notes what the controller said.
    pub(crate) fn note_room(&self, sample: RoomSample) {
        lock(&self.room).push(sample);
    }

    /// The counts for the progress bar.
    pub(crate) fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Closes the book: what was written so far, as plain data.
    pub(crate) fn take(&self, now: Instant) -> RunRecord {
        RunRecord {
            visitors: self.visitors.iter().map(|v| std::mem::take(&mut *lock(v))).collect(),
            calls: std::mem::take(&mut lock(&self.calls)),
            room: std::mem::take(&mut lock(&self.room)),
            duration: self.since_start(now),
            opened: 0.0,
        }
    }
}

/// A record half written by a task that panicked is still worth reading.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tally_follows_a_visit() {
        let recorder = Recorder::new(2, Instant::now());
        recorder.write(0, |v| v.arrived = Some(0.0));
        recorder.write(0, |v| v.joined = Some(0.1));
        let counts =
            [Phase::Away, Phase::Joining, Phase::Waiting].map(|p| recorder.tally().count(p));
        assert_eq!(counts, [1, 0, 1]);
        recorder.write(0, |v| v.ended = Some((0.2, Ending::Abandoned)));
        assert_eq!(recorder.tally().count(Phase::Done), 1);
        assert_eq!(recorder.tally().count(Phase::Waiting), 0);
    }

    #[test]
    fn a_seat_is_held_from_the_answer_to_the_leave_request() {
        let mut visitor = VisitorRecord { admitted: Some(4.0), ..VisitorRecord::default() };
        assert_eq!(visitor.inside(10.0), Some((4.0, 10.0)));
        visitor.inside_until = Some(300.0);
        assert_eq!(visitor.inside(10.0), Some((4.0, 10.0)));
        visitor.inside_until = Some(6.0);
        assert_eq!(visitor.inside(10.0), Some((4.0, 6.0)));
        assert_eq!(visitor.waiting(10.0), None);
    }
}
