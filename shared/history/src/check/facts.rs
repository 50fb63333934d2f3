//! What several checks need to know of a room: which rules may be in force, whether places may have
//! become void, since when a position can have been served.

use std::sync::Arc;

use vestibule_domain::RoomId;

use super::{programmes::Programmes, serving::ServingSeen, voids::Voids};
use crate::{Bounds, Event, Rules};

/// What follows from the events so far.
#[derive(Debug)]
pub(crate) struct Facts {
    pub(crate) bounds: Arc<Bounds>,
    pub(crate) room: Option<RoomId>,
    /// The time of the latest event.
    pub(crate) now_ms: u64,
    programmes: Programmes,
    voids: Voids,
    serving: ServingSeen,
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
        }
    }

    pub(crate) fn observe(&mut self, event: &Event) {
        self.now_ms = self.now_ms.max(event.at_ms);
        if self.room.is_some() {
            self.programmes.observe(event, self.bounds.settles_ms);
            self.voids.observe(event);
            self.serving.observe(event);
        }
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

    /// Until when `position` was certainly not served, ms; 0: perhaps always.
    pub(crate) fn unserved_until(&self, reset_epoch: u64, position: u64) -> u64 {
        self.serving.unserved_until(reset_epoch, position)
    }
}
