//! What happens when, in virtual time: each visitor has one next moment, or is in the middle of a call.
//! What a visitor then does is not known here.

use std::{cmp::Reverse, collections::BinaryHeap};

/// Appointments in the order of time, those of one moment in the order in which they were made.
#[derive(Debug, Default)]
pub(super) struct Agenda {
    due: BinaryHeap<Reverse<(u64, u64, u32)>>,
    made: u64,
}

// === impl Agenda ===

impl Agenda {
    /// Notes that `visitor` is due at `at_ms`.
    pub(super) fn put(&mut self, at_ms: u64, visitor: u32) {
        self.due.push(Reverse((at_ms, self.made, visitor)));
        self.made += 1;
    }

    /// When the next one is due.
    pub(super) fn next_ms(&self) -> Option<u64> {
        self.due.peek().map(|Reverse((at_ms, ..))| *at_ms)
    }

    /// The next one, if it is due by `now_ms`.
    pub(super) fn take_due(&mut self, now_ms: u64) -> Option<u32> {
        self.next_ms().filter(|at_ms| *at_ms <= now_ms)?;
        self.due.pop().map(|Reverse((_, _, visitor))| visitor)
    }

    /// How many appointments were ever made.
    pub(super) fn made(&self) -> u64 {
        self.made
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everyone_is_due_in_time_and_in_order() {
        let mut agenda = Agenda::default();
        for (at_ms, visitor) in [(2, 7), (0, 1), (2, 3), (5, 9), (0, 2)] {
            agenda.put(at_ms, visitor);
        }
        let mut due_by =
            |now_ms| std::iter::from_fn(|| agenda.take_due(now_ms)).collect::<Vec<_>>();
        assert_eq!([due_by(0), due_by(1), due_by(4)], [vec![1, 2], vec![], vec![7, 3]]);
        assert_eq!((agenda.next_ms(), agenda.made()), (Some(5), 5));
    }
}
