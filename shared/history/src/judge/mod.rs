//! The judge: takes events in one by one, in order of time, and tells what contradicts what.

mod tally;

use std::sync::Arc;

use rustc_hash::FxHashMap;
use vestibule_domain::RoomId;

use self::tally::Tally;
use crate::{
    Bounds, Event, Figures, Violation, WaitFigures, What,
    check::{Check, Facts, Findings, Seen, Waits},
    checks,
};

/// Checks a history, event by event. Each costs O(log n).
#[derive(Debug)]
pub struct Judge {
    bounds: Arc<Bounds>,
    rooms: FxHashMap<RoomId, Part>,
    deployment: Part,
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

/// A room, or the deployment.
#[derive(Debug)]
struct Part {
    facts: Facts,
    checks: Vec<Box<dyn Check>>,
}

// === impl Judge ===

impl Judge {
    /// A judge who has seen nothing.
    #[must_use]
    pub fn new(bounds: Bounds) -> Self {
        let bounds = Arc::new(bounds);
        Self {
            deployment: Part::of_the_deployment(&bounds),
            bounds,
            rooms: FxHashMap::default(),
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
        let now = Seen::new(event);
        self.deployment.observe(&now, &mut violations);
        if let Some(room) = &event.room {
            if !self.rooms.contains_key(room) {
                self.rooms.insert(room.clone(), Part::of_room(&self.bounds, room));
            }
            if let Some(part) = self.rooms.get_mut(room) {
                part.observe(&now, &mut violations);
            }
        }
        self.told(&mut violations);
        violations
    }

    /// The end of the history.
    #[must_use]
    pub fn finish(mut self) -> Verdict {
        let mut violations = Vec::new();
        for part in self.rooms.values_mut() {
            part.finish(&mut violations);
        }
        self.told(&mut violations);
        let parts = self.rooms.values();
        let mut figures = self.tally.figures(self.rooms.len());
        let mut waits = Waits::default();
        for check in parts.flat_map(|part| &part.checks) {
            check.measure(&mut figures, &mut waits);
        }
        figures.first_waits = WaitFigures::of(waits.first);
        figures.all_waits = WaitFigures::of(waits.all);
        Verdict { figures, violations }
    }

    fn is_incomplete_from_now(&mut self) {
        let bounds = Bounds { is_complete: false, ..Bounds::clone(&self.bounds) };
        self.bounds = Arc::new(bounds);
        let parts = self.rooms.values_mut().chain([&mut self.deployment]);
        parts.for_each(|part| part.facts.bounds = Arc::clone(&self.bounds));
    }

    /// Leaves out what is skipped, counts the rest, and keeps what is still to be told.
    fn told(&mut self, violations: &mut Vec<Violation>) {
        violations.retain(|violation| {
            !self.bounds.skipped.contains(&violation.invariant)
                && self.tally.tell(violation) <= self.bounds.most_told
        });
    }
}

// === impl Part ===

impl Part {
    fn of_the_deployment(bounds: &Arc<Bounds>) -> Self {
        let facts = Facts::new(Arc::clone(bounds), None);
        Self { facts, checks: checks::of_the_deployment() }
    }

    fn of_room(bounds: &Arc<Bounds>, room: &RoomId) -> Self {
        let facts = Facts::new(Arc::clone(bounds), Some(room.clone()));
        Self { facts, checks: checks::of_a_room() }
    }

    fn observe(&mut self, now: &Seen<'_>, violations: &mut Vec<Violation>) {
        self.facts.observe(now.event);
        let room = self.facts.room.clone();
        let mut found = Findings::new(room, now.event.at_ms, violations);
        for check in &mut self.checks {
            check.observe(now, &self.facts, &mut found);
        }
    }

    fn finish(&mut self, violations: &mut Vec<Violation>) {
        let mut found = Findings::new(self.facts.room.clone(), self.facts.now_ms, violations);
        for check in &mut self.checks {
            check.finish(&self.facts, &mut found);
        }
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
