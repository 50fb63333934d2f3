//! The judge: takes events in one by one, in order of time, and tells what contradicts what.

mod side;
mod splits;
mod tally;

use std::sync::Arc;

use self::{side::Side, splits::Splits, tally::Tally};
use crate::{Bounds, Event, Figures, Violation, What};

/// Checks a history, event by event. Each costs O(log n).
#[derive(Debug)]
pub struct Judge {
    bounds: Arc<Bounds>,
    /// What is known; during a split, by those who are not apart.
    main: Side,
    splits: Splits,
    tally: Tally,
    /// Events are missing from now on, so that nothing can be concluded any more.
    is_blind: bool,
}

/// What a whole history comes to.
#[derive(Debug)]
pub struct Verdict {
    /// How well.
    pub figures: Figures,
    /// Violations that only the end shows. Those before were returned by [`Judge::observe`].
    pub violations: Vec<Violation>,
}

// === impl Judge ===

impl Judge {
    /// A judge who has seen nothing.
    #[must_use]
    pub fn new(bounds: Bounds) -> Self {
        let bounds = Arc::new(bounds);
        Self {
            main: Side::new(Arc::clone(&bounds)),
            bounds,
            splits: Splits::default(),
            tally: Tally::default(),
            is_blind: false,
        }
    }

    /// Takes in `event`, and returns what it contradicts. Events come in order of [`Event::at_ms`];
    /// small disorder costs precision, not truth.
    ///
    /// After the death of a writer ([`What::Cut`]) nothing is concluded from the absence of events.
    /// After [`What::Lost`] nothing is concluded at all; see [`Figures::judged`].
    pub fn observe(&mut self, event: &Event) -> Vec<Violation> {
        self.is_blind |= event.what == What::Lost;
        self.tally.count(event, !self.is_blind);
        if self.is_blind {
            return Vec::new();
        }
        if event.what == What::Cut {
            self.is_incomplete_from_now();
        }
        let mut violations = Vec::new();
        self.splits.observe(event, &mut self.main, &mut violations);
        self.told(&mut violations);
        violations
    }

    /// The end of the history.
    #[must_use]
    pub fn finish(mut self) -> Verdict {
        let mut violations = Vec::new();
        self.main.finish(&mut violations);
        self.told(&mut violations);
        let mut figures = self.tally.figures(self.main.rooms());
        self.main.measure(&mut figures);
        Verdict { figures, violations }
    }

    fn is_incomplete_from_now(&mut self) {
        let bounds = Bounds { is_complete: false, ..Bounds::clone(&self.bounds) };
        self.bounds = Arc::new(bounds);
        self.main.bind(&self.bounds);
        self.splits.bind(&self.bounds);
    }

    /// Leaves out what is skipped, counts the rest, and keeps what is still to be told.
    fn told(&mut self, violations: &mut Vec<Violation>) {
        violations.retain(|violation| {
            !self.bounds.skipped.contains(&violation.invariant)
                && self.tally.tell(violation) <= self.bounds.most_told
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Invariant;

    fn served(at_ms: u64, serving_counter: i64) -> Event {
        let what = What::Served { reset_epoch: 1, serving_counter };
        let room = Some("sale".parse().unwrap());
        Event { at_ms, began_ms: at_ms, by: "a".into(), room, what }
    }

    fn found(bounds: Bounds, events: &[Event]) -> (usize, Figures) {
        let mut judge = Judge::new(bounds);
        let found = events.iter().map(|event| judge.observe(event).len()).sum();
        (found, judge.finish().figures)
    }

    fn night() -> Vec<Event> {
        [9, 5, 4, 3].into_iter().zip(1..).map(|(counter, at)| served(at, counter)).collect()
    }

    #[test]
    fn only_so_many_violations_are_told_and_all_are_counted() {
        let (told, figures) = found(Bounds { most_told: 2, ..Bounds::default() }, &night());
        assert_eq!((told, figures.violations["serving-counter"]), (2, 3));
        assert_eq!((figures.events, figures.rooms, figures.span_ms), (4, 1, 3));
    }

    #[test]
    fn after_a_loss_nothing_is_concluded() {
        let mut events = night();
        events.insert(2, Event { what: What::Lost, ..served(2, 0) });
        let (told, figures) = found(Bounds::default(), &events);
        assert_eq!((told, figures.events, figures.judged), (1, 5, 2));
    }

    #[test]
    fn what_is_skipped_is_neither_told_nor_counted() {
        let skipped = vec![Invariant::ServingCounter];
        let (told, figures) = found(Bounds { skipped, ..Bounds::default() }, &night());
        assert_eq!((told, figures.violations.len()), (0, 0));
    }
}
