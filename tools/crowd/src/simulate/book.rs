//! What is written down during a simulation: the same records as in a rehearsal, by virtual time,
//! and what only a simulation knows.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{
    answer::Call,
    number::{index, real64},
    record::{CallLog, Ending, Estimate, RoomSample, RunRecord, Told, VisitorRecord},
};

/// Estimates kept of all visitors together, so that a million of them fit into memory.
const ESTIMATES_KEPT: usize = 8_000_000;

/// What only a simulation knows.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Simulation {
    /// How long it took, in real seconds.
    pub(crate) real_seconds: f64,
    /// Calls made to Redis.
    pub(crate) redis_calls: u64,
    /// Moments of visitors that were simulated.
    pub(crate) moments: u64,
    /// How far time moved at once, in seconds.
    pub(crate) step_seconds: f64,
    /// How often the leader looked at the room, in seconds.
    pub(crate) tick_seconds: f64,
    /// Newcomers who were made to wait although a slot was free and nobody else waited.
    pub(crate) queued_while_a_slot_was_free: u64,
    /// Newcomers by region.
    pub(crate) regions: BTreeMap<String, RegionFigures>,
}

/// How the newcomers of a region fared.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(crate) struct RegionFigures {
    /// Came.
    pub(crate) arrived: u64,
    /// Entered at once.
    pub(crate) admitted_at_once: u64,
    /// Of the seats taken at once: from the region's own slots …
    pub(crate) own_slots: u64,
    /// … from those open to all …
    pub(crate) anywhere_slots: u64,
    /// … and from what other regions left unused.
    pub(crate) lent_slots: u64,
}

/// Everything written down. Times are seconds since the start of virtual time.
#[derive(Debug)]
pub(super) struct Book {
    visitors: Vec<VisitorRecord>,
    calls: CallLog,
    room: Vec<RoomSample>,
    waiting: usize,
    inside: usize,
    done: usize,
    arrived: usize,
}

// === impl Book ===

impl Book {
    /// A blank book for so many visitors.
    pub(super) fn new(visitors: usize) -> Self {
        let each = ESTIMATES_KEPT / visitors.max(1);
        let most = u16::try_from(each.clamp(8, 64)).unwrap_or(64);
        let blank = || VisitorRecord { told: Told::keeping(most), ..VisitorRecord::default() };
        Self {
            visitors: std::iter::repeat_with(blank).take(visitors).collect(),
            calls: CallLog::default(),
            room: Vec::new(),
            waiting: 0,
            inside: 0,
            done: 0,
            arrived: 0,
        }
    }

    /// A visitor came and got its number.
    pub(super) fn join(&mut self, visitor: u32, now: f64, number: u64) {
        let record = &mut self.visitors[visitor as usize];
        (record.arrived, record.joined, record.queue_number) = (Some(now), Some(now), Some(number));
        self.arrived += 1;
        self.calls.count(Call::Join, index(now));
    }

    /// It is in line.
    pub(super) fn wait(&mut self, visitor: u32) {
        self.visitors[visitor as usize].waited = true;
        self.waiting += 1;
    }

    /// It asked how it stands.
    pub(super) fn poll(&mut self, call: Call, now: f64) {
        self.calls.count(call, index(now));
    }

    /// What it was told.
    pub(super) fn told(&mut self, visitor: u32, estimate: &Estimate, position: Option<u64>) {
        let record = &mut self.visitors[visitor as usize];
        record.told.note(estimate);
        record.position = position.or(record.position);
    }

    /// It entered; its session ends then at the latest.
    pub(super) fn enter(&mut self, visitor: u32, now: f64, session_over: f64) {
        let record = &mut self.visitors[visitor as usize];
        (record.admitted, record.inside_until) = (Some(now), Some(session_over));
        self.waiting -= usize::from(record.waited);
        self.inside += 1;
    }

    /// The visit is over.
    pub(super) fn end(&mut self, visitor: u32, now: f64, ending: Ending) {
        let record = &mut self.visitors[visitor as usize];
        if record.admitted.is_some() {
            self.inside -= 1;
        } else {
            self.waiting -= usize::from(record.waited);
        }
        if ending == Ending::Left {
            record.inside_until = Some(now);
            self.calls.count(Call::Leave, index(now));
        }
        record.ended = Some((now, ending));
        self.done += 1;
    }

    /// What the leader said of the room.
    pub(super) fn sample(&mut self, sample: RoomSample) {
        self.room.push(sample);
    }

    /// When a visitor came.
    pub(super) fn joined(&self, visitor: u32) -> f64 {
        self.visitors[visitor as usize].joined.unwrap_or(0.0)
    }

    /// How many wait who are really there.
    pub(super) fn waiting(&self) -> usize {
        self.waiting
    }

    /// How many are still to come, or on their way.
    pub(super) fn unfinished(&self) -> usize {
        self.visitors.len() - self.done
    }

    /// How far it all is, in a sentence.
    pub(super) fn sentence(&self) -> String {
        let Self { arrived, waiting, inside, done, .. } = self;
        format!("{arrived} arrived, {waiting} waiting, {inside} inside, {done} done")
    }

    /// How much is done, from 0 to 1.
    pub(super) fn progress(&self) -> f64 {
        let count = |n: usize| real64(u64::try_from(n).unwrap_or(u64::MAX));
        count(self.done) / count(self.visitors.len().max(1))
    }

    /// Closes the book.
    pub(super) fn close(&mut self, now: f64, opened: f64) -> RunRecord {
        RunRecord {
            visitors: std::mem::take(&mut self.visitors),
            calls: std::mem::take(&mut self.calls),
            room: std::mem::take(&mut self.room),
            duration: now,
            opened,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_visit_is_counted_where_it_is() {
        let mut book = Book::new(2);
        book.join(0, 1.0, 7);
        book.wait(0);
        assert_eq!((book.waiting(), book.unfinished()), (1, 2));
        book.enter(0, 3.0, 99.0);
        book.join(1, 4.0, 8);
        book.wait(1);
        book.end(1, 5.0, Ending::Abandoned);
        book.end(0, 6.0, Ending::Left);
        assert_eq!((book.waiting, book.inside, book.done, book.unfinished()), (0, 0, 2, 0));
        let run = book.close(6.0, 2.0);
        assert_eq!(run.visitors[0].inside(6.0), Some((3.0, 6.0)));
        assert_eq!(run.wait(&run.visitors[0]), Some((2.0, 3.0)), "counted from the opening");
        assert_eq!(run.calls.all, [0, 1, 0, 0, 1, 0, 1]);
    }
}
