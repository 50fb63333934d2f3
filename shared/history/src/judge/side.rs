//! What is known of all rooms and of the deployment: by everybody, or on one side of a split.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use vestibule_domain::RoomId;

use crate::{
    Bounds, Figures, Violation, WaitFigures,
    check::{Check, Facts, Findings, Seen, Turn, Waits},
    checks,
};

/// All rooms and the deployment.
#[derive(Debug, Clone)]
pub(super) struct Side {
    bounds: Arc<Bounds>,
    rooms: FxHashMap<RoomId, Part>,
    deployment: Part,
    /// The last beginning or end of a split, for rooms that are heard of later.
    turn: Option<Turn>,
}

/// A room, or the deployment.
#[derive(Debug, Clone)]
struct Part {
    facts: Facts,
    checks: Vec<Box<dyn Check>>,
}

// === impl Side ===

impl Side {
    pub(super) fn new(bounds: Arc<Bounds>) -> Self {
        let deployment = Part::new(&bounds, None, checks::of_the_deployment());
        Self { bounds, rooms: FxHashMap::default(), deployment, turn: None }
    }

    /// Takes in what somebody on this side knows.
    pub(super) fn observe(&mut self, now: &Seen<'_>, violations: &mut Vec<Violation>) {
        self.deployment.observe(now, violations);
        if let Some(part) = self.part(now) {
            part.observe(now, violations);
        }
    }

    /// Takes in what somebody on the other side knows.
    pub(super) fn hear_apart(&mut self, now: &Seen<'_>, violations: &mut Vec<Violation>) {
        self.deployment.hear_apart(now, violations);
        if let Some(part) = self.part(now) {
            part.hear_apart(now, violations);
        }
    }

    /// A split begins or is over.
    pub(super) fn turn(&mut self, turn: &Turn) {
        self.parts().for_each(|part| part.turn(turn));
        self.turn = Some(turn.clone());
    }

    /// From now on within these bounds.
    pub(super) fn bind(&mut self, bounds: &Arc<Bounds>) {
        self.parts().for_each(|part| part.facts.bounds = Arc::clone(bounds));
        self.bounds = Arc::clone(bounds);
    }

    /// The end of the history.
    pub(super) fn finish(&mut self, violations: &mut Vec<Violation>) {
        self.rooms.values_mut().for_each(|part| part.finish(violations));
    }

    /// How many rooms there are.
    pub(super) fn rooms(&self) -> usize {
        self.rooms.len()
    }

    /// Adds what the checks have measured.
    pub(super) fn measure(&self, figures: &mut Figures) {
        let mut waits = Waits::default();
        for check in self.rooms.values().flat_map(|part| &part.checks) {
            check.measure(figures, &mut waits);
        }
        figures.first_waits = WaitFigures::of(waits.first);
        figures.all_waits = WaitFigures::of(waits.all);
    }

    fn parts(&mut self) -> impl Iterator<Item = &mut Part> {
        self.rooms.values_mut().chain([&mut self.deployment])
    }

    fn part(&mut self, now: &Seen<'_>) -> Option<&mut Part> {
        let room = now.room.as_ref()?;
        if !self.rooms.contains_key(room) {
            let mut part = Part::new(&self.bounds, Some(room), checks::of_a_room());
            self.turn.iter().for_each(|turn| part.turn(turn));
            self.rooms.insert(room.clone(), part);
        }
        self.rooms.get_mut(room)
    }
}

// === impl Part ===

impl Part {
    fn new(bounds: &Arc<Bounds>, room: Option<&RoomId>, checks: Vec<Box<dyn Check>>) -> Self {
        Self { facts: Facts::new(Arc::clone(bounds), room.cloned()), checks }
    }

    fn observe(&mut self, now: &Seen<'_>, violations: &mut Vec<Violation>) {
        self.facts.observe(now.event);
        let mut found = Findings::new(self.facts.room.clone(), now.event.at_ms, violations);
        for check in &mut self.checks {
            check.observe(now, &self.facts, &mut found);
        }
    }

    fn hear_apart(&mut self, now: &Seen<'_>, violations: &mut Vec<Violation>) {
        self.facts.hear_apart(now.event);
        let mut found = Findings::new(self.facts.room.clone(), now.event.at_ms, violations);
        for check in &mut self.checks {
            check.hear_apart(now, &self.facts, &mut found);
        }
    }

    fn turn(&mut self, turn: &Turn) {
        self.facts.turn(turn);
        for check in &mut self.checks {
            check.turn(turn, &self.facts);
        }
    }

    fn finish(&mut self, violations: &mut Vec<Violation>) {
        let mut found = Findings::new(self.facts.room.clone(), self.facts.now_ms, violations);
        for check in &mut self.checks {
            check.finish(&self.facts, &mut found);
        }
    }
}
