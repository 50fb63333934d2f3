//! The book that is kept while a crowd is on its way, by a rehearsal and by a simulation alike.

use super::{CallLog, CompanyLog, Phase, RoomSample, RunRecord, Told, VisitorRecord};
use crate::crowd::number::real;

/// Estimates kept of all visitors together, so that a million of them fit into memory.
const ESTIMATES_KEPT: usize = 8_000_000;

/// Everything written down.
#[derive(Debug, Default)]
pub(crate) struct Book {
    /// The calls.
    pub(crate) calls: CallLog,
    /// What hostile company does.
    pub(crate) company: CompanyLog,
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
            company: CompanyLog::default(),
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
            company: self.company,
            room: self.room,
            duration: now,
            ..RunRecord::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Ending;

    #[test]
    fn a_visit_is_counted_where_it_is() {
        let mut book = Book::new(2);
        book.write(0, |v| v.arrived = Some(0.0));
        let counts = [Phase::Away, Phase::Joining, Phase::Waiting].map(|p| book.tally().count(p));
        assert_eq!(counts, [1, 1, 0], "who asks to join is neither away nor waiting");
        book.write(0, |v| (v.joined, v.waited) = (Some(1.0), true));
        assert_eq!(book.tally().count(Phase::Waiting), 1);
        book.write(0, |v| (v.admitted, v.inside_until) = (Some(3.0), Some(6.0)));
        book.write(1, |v| (v.joined, v.ended) = (Some(4.0), Some((5.0, Ending::Abandoned))));
        assert_eq!(book.tally().sentence(), "2 arrived, 0 waiting, 1 inside, 1 done");
        book.write(0, |v| v.ended = Some((6.1, Ending::Left)));
        assert_eq!((book.tally().count(Phase::Done), book.tally().progress()), (2, 1.0));
        let run = RunRecord { opened: 2.0, ..book.close(6.0) };
        assert_eq!(run.visitors[0].inside(6.0), Some((3.0, 6.0)));
        assert_eq!(run.wait(&run.visitors[0]), Some((2.0, 3.0)), "counted from the opening");
    }
}
