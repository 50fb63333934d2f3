//! What happens when, in virtual time: for each step a list of visitors whose next moment has come.
//! A wheel that is as long as the furthest appointment, so that ten million appointments cost what
//! ten million pushes cost. What a visitor then does is not known here.

use std::collections::VecDeque;

/// Appointments by step.
#[derive(Debug, Default)]
pub(super) struct Agenda {
    /// The step that [`Self::next`] gives out.
    step: u64,
    /// Those of that step, and of the steps after it.
    steps: VecDeque<Vec<u32>>,
    /// Lists that can be used again.
    spare: Vec<Vec<u32>>,
    made: u64,
}

/// The most lists kept to be used again.
const MOST_SPARE: usize = 1024;

// === impl Agenda ===

impl Agenda {
    /// Notes that `visitor` is due at `step`; what is past is due at once.
    pub(super) fn put(&mut self, step: u64, visitor: u32) {
        let ahead = usize::try_from(step.saturating_sub(self.step)).unwrap_or(usize::MAX);
        while self.steps.len() <= ahead {
            self.steps.push_back(Vec::new());
        }
        let list = &mut self.steps[ahead];
        if list.capacity() == 0
            && let Some(spare) = self.spare.pop()
        {
            *list = spare;
        }
        list.push(visitor);
        self.made += 1;
    }

    /// Everyone due at the next step, in the order in which they were put.
    pub(super) fn next(&mut self) -> Vec<u32> {
        self.step += 1;
        self.steps.pop_front().unwrap_or_default()
    }

    /// Takes a list back that was given out.
    pub(super) fn give_back(&mut self, mut list: Vec<u32>) {
        if self.spare.len() < MOST_SPARE && list.capacity() > 0 {
            list.clear();
            self.spare.push(list);
        }
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
    fn everyone_is_due_in_their_step_and_in_order() {
        let mut agenda = Agenda::default();
        for (step, visitor) in [(2, 7), (0, 1), (2, 3), (5, 9), (0, 2)] {
            agenda.put(step, visitor);
        }
        let seen: Vec<_> = (0..7).map(|_| agenda.next()).collect();
        assert_eq!(seen, [vec![1, 2], vec![], vec![7, 3], vec![], vec![], vec![9], vec![]]);
        agenda.put(3, 4);
        assert_eq!(agenda.next(), [4], "what is past is due at once");
        assert_eq!(agenda.made(), 6);
    }

    #[test]
    fn lists_are_used_again() {
        let mut agenda = Agenda::default();
        for step in 0..1_000_000_u64 {
            agenda.put(step + 3, 1);
            let due = agenda.next();
            assert_eq!(due.len(), usize::from(step >= 3));
            agenda.give_back(due);
        }
        assert!(agenda.spare.len() <= 4, "{}", agenda.spare.len());
        assert!(agenda.steps.len() <= 4);
    }
}
