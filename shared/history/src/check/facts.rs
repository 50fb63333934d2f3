//! What several checks need to know of a room: which rules may be in force, whether places may have
//! become void, whose are over, since when a position can have been served.

use std::sync::Arc;

use vestibule_domain::RoomId;

use super::{Turn, over::Over, programmes::Programmes, serving::ServingSeen, voids::Voids};
use crate::{Bounds, Event, Rules};

/// What follows from the events so far.
#[derive(Debug, Clone)]
pub(crate) struct Facts {
    pub(crate) bounds: Arc<Bounds>,
    pub(crate) room: Option<RoomId>,
    /// The time of the latest event.
    pub(crate) now_ms: u64,
    programmes: Programmes,
    voids: Voids,
    serving: ServingSeen,
    over: Over,
    /// Two servers take writes.
    is_split: bool,
    /// When the last split was over, ms.
    healed_ms: Option<u64>,
}

// === impl Facts ===

impl Facts {
    pub(crate) fn new(bounds: Arc<Bounds>, room: Option<RoomId>) -> Self {
        Self {
            bounds,
            room,
            now_ms: 0,
            programmes: Programmes::default(),
            voids: Voids::default(),
            serving: ServingSeen::default(),
            over: Over::default(),
            is_split: false,
            healed_ms: None,
        }
    }

    pub(crate) fn observe(&mut self, event: &Event) {
        self.now_ms = self.now_ms.max(event.at_ms);
        if self.room.is_some() {
            self.programmes.observe(event, self.bounds.settles_ms);
            self.voids.observe(event);
            self.serving.observe(event);
            self.over.observe(event);
        }
    }

    /// Takes in an event of somebody who is apart: see [`super::Check::hear_apart`].
    pub(crate) fn hear_apart(&mut self, event: &Event) {
        self.now_ms = self.now_ms.max(event.at_ms);
        self.programmes.hear_apart(event);
        self.voids.hear_apart(event);
    }

    pub(crate) fn turn(&mut self, turn: &Turn) {
        (self.is_split, self.healed_ms) = (!turn.is_over, turn.is_over.then_some(turn.at_ms));
        self.programmes.turn(turn);
        self.voids.turn(turn);
    }

    /// Whether what a visitor did or was told by `now` may have been on either side of a split.
    pub(crate) fn may_be_apart(&self, now: &Event) -> bool {
        self.is_split || self.healed_ms.is_some_and(|healed_ms| now.began_ms <= healed_ms)
    }

    /// All rules that may have been in force at some moment of the span; none: nothing is known.
    pub(crate) fn rules(&self, from_ms: u64, to_ms: u64) -> impl Iterator<Item = &Rules> {
        self.programmes.during(from_ms, to_ms)
    }

    /// The highest limit that may have been in force; `None`: perhaps there was none.
    pub(crate) fn highest(
        &self,
        (from_ms, to_ms): (u64, u64),
        limit: impl Fn(&Rules) -> Option<u64>,
    ) -> Option<u64> {
        let mut highest = None;
        for rules in self.rules(from_ms, to_ms) {
            let limit = if rules.open { None } else { limit(rules) };
            highest = Some(highest.unwrap_or(0).max(limit?));
        }
        highest
    }

    /// Whether a reset or a deletion may have taken effect after `since_ms`.
    pub(crate) fn may_be_void(&self, since_ms: u64) -> bool {
        self.voids.since(since_ms, self.bounds.settles_ms)
    }

    /// Whether the place at `position` is over: whoever else has its ticket may ask on.
    pub(crate) fn is_over(&self, position: u64) -> bool {
        self.over.contains(position)
    }

    /// Until when `position` was certainly not served, ms; 0: perhaps always.
    pub(crate) fn unserved_until(&self, reset_epoch: u64, position: u64) -> u64 {
        self.serving.unserved_until(reset_epoch, position)
    }
}
