//! The book that is kept while a crowd is on its way, by a rehearsal and by a simulation alike.

use super::{CallLog, Ending, Estimate, Phase, RoomSample, RunRecord, Told, VisitorRecord};
use crate::crowd::number::real;

/// Estimates kept of all visitors together, so that a million of them fit into memory.
const ESTIMATES_KEPT: usize = 8_000_000;

/// Everything written down.
#[derive(Debug)]
pub(crate) struct Book {
    /// The calls.
    pub(crate) calls: CallLog,
    visitors: Vec<VisitorRecord>,
    room: Vec<RoomSample>,
    tally: Tally,
}

/// How many visitors are where.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tally([usize; 5]);

// === impl Tally ===

impl Tally {
    /// How many are in a phase.
    pub(crate) fn count(&self, phase: Phase) -> usize {
        self.0[phase as usize]
    }

    /// How many visits are not over.
    pub(crate) fn unfinished(&self) -> usize {
        self.0.iter().sum::<usize>() - self.count(Phase::Done)
    }

    /// How much is done, from 0 to 1.
    pub(crate) fn progress(&self) -> f64 {
        real(self.count(Phase::Done)) / real(self.0.iter().sum::<usize>().max(1))
    }

    /// How far it all is, in a sentence.
    pub(crate) fn sentence(&self) -> String {
        let [joining, waiting, inside, done] =
            [Phase::Joining, Phase::Waiting, Phase::Inside, Phase::Done].map(|p| self.count(p));
        let arrived = joining + waiting + inside + done;
        format!("{arrived} arrived, {waiting} waiting, {inside} inside, {done} done")
    }

    fn shift(&mut self, from: Phase, to: Phase) {
        self.0[from as usize] -= 1;
        self.0[to as usize] += 1;
    }
}

// === impl Book ===

impl Book {
    /// A blank book for so many visitors.
    pub(crate) fn new(visitors: usize) -> Self {
        let each = ESTIMATES_KEPT / visitors.max(1);
        let most = u16::try_from(each.clamp(8, 64)).unwrap_or(64);
        let blank = || VisitorRecord { told: Told::keeping(most), ..VisitorRecord::default() };
        let mut tally = Tally::default();
        tally.0[Phase::Away as usize] = visitors;
        Self {
            calls: CallLog::default(),
            visitors: std::iter::repeat_with(blank).take(visitors).collect(),
            room: Vec::new(),
            tally,
        }
    }

    /// Writes into one visitor's record.
    pub(crate) fn write<T>(
        &mut self,
        visitor: usize,
        write: impl FnOnce(&mut VisitorRecord) -> T,
    ) -> T {
        let record = &mut self.visitors[visitor];
        let before = record.phase();
        let written = write(record);
        self.tally.shift(before, record.phase());
        written
    }

    /// A blank one for the same visitors.
    pub(crate) fn blank(&self) -> Self {
        Self::new(self.visitors.len())
    }

    /// One visitor's record.
    pub(crate) fn visitor(&self, visitor: usize) -> &VisitorRecord {
        &self.visitors[visitor]
    }

    /// Notes what the controller, or the leader, said of the room.
    pub(crate) fn sample(&mut self, sample: RoomSample) {
        self.room.push(sample);
    }

    /// How many visitors are where.
    pub(crate) fn tally(&self) -> Tally {
        self.tally
    }

    /// Closes the book: what was written so far, as plain data.
    pub(crate) fn close(self, now: f64) -> RunRecord {
        RunRecord {
            visitors: self.visitors,
            calls: self.calls,
            room: self.room,
            duration: now,
            ..RunRecord::default()
        }
    }
}

/// The moments of a visit, as a simulation knows them.
impl Book {
    /// A visitor comes, and asks for a place.
    pub(crate) fn arrive(&mut self, visitor: u32, now: f64) {
        self.write(visitor as usize, |record| record.arrived = record.arrived.or(Some(now)));
    }

    /// It has got its number.
    pub(crate) fn join(&mut self, visitor: u32, now: f64, number: u64, request_id: Option<u128>) {
        self.write(visitor as usize, |record| {
            record.joined = record.joined.or(Some(now));
            (record.queue_number, record.request_id) = (Some(number), request_id);
        });
    }

    /// It is in line.
    pub(crate) fn wait(&mut self, visitor: u32) {
        self.write(visitor as usize, |record| record.waited = true);
    }

    /// What it was told.
    pub(crate) fn told(&mut self, visitor: u32, estimate: Option<Estimate>, position: Option<u64>) {
        self.write(visitor as usize, |record| {
            record.told.note(estimate);
            record.position = position.or(record.position);
        });
    }

    /// It entered; its session ends then at the latest.
    pub(crate) fn enter(&mut self, visitor: u32, now: f64, session_over: f64) {
        self.write(visitor as usize, |record| {
            (record.admitted, record.inside_until) = (Some(now), Some(session_over));
        });
    }

    /// It says that it leaves: from here on its seat may be free.
    pub(crate) fn leave(&mut self, visitor: u32, now: f64) {
        self.write(visitor as usize, |record| {
            record.inside_until = record.inside_until.map(|until| until.min(now));
        });
    }

    /// The visit is over.
    pub(crate) fn end(&mut self, visitor: u32, now: f64, ending: Ending) {
        self.write(visitor as usize, |record| record.ended = Some((now, ending)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_visit_is_counted_where_it_is() {
        let mut book = Book::new(2);
        book.arrive(0, 1.0);
        book.join(0, 1.0, 7, None);
        book.wait(0);
        assert_eq!((book.tally().count(Phase::Waiting), book.tally().unfinished()), (1, 2));
        book.enter(0, 3.0, 99.0);
        book.arrive(1, 4.0);
        book.join(1, 4.0, 8, None);
        book.wait(1);
        book.end(1, 5.0, Ending::Abandoned);
        assert_eq!(book.tally().sentence(), "2 arrived, 0 waiting, 1 inside, 1 done");
        book.leave(0, 6.0);
        book.end(0, 6.1, Ending::Left);
        assert_eq!((book.tally().unfinished(), book.tally().progress()), (0, 1.0));
        let run = RunRecord { opened: 2.0, ..book.close(6.0) };
        assert_eq!(run.visitors[0].inside(6.0), Some((3.0, 6.0)));
        assert_eq!(run.wait(&run.visitors[0]), Some((2.0, 3.0)), "counted from the opening");
    }

    #[test]
    fn who_asks_to_join_is_neither_away_nor_waiting() {
        let mut book = Book::new(2);
        book.write(0, |v| v.arrived = Some(0.0));
        let counts = [Phase::Away, Phase::Joining, Phase::Waiting].map(|p| book.tally().count(p));
        assert_eq!(counts, [1, 1, 0]);
    }
}
