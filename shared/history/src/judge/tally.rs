//! Counts what no check needs to look at.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use vestibule_domain::RoomId;

use crate::{ClaimedAs, Event, Figures, Invariant, Violation, What};

/// Counts of a history.
#[derive(Debug, Default)]
pub(super) struct Tally {
    first_ms: Option<u64>,
    last_ms: u64,
    figures: Figures,
    told: FxHashMap<(Invariant, Option<RoomId>), u64>,
}

// === impl Tally ===

impl Tally {
    pub(super) fn count(&mut self, event: &Event, is_judged: bool) {
        self.first_ms.get_or_insert(event.at_ms);
        self.last_ms = self.last_ms.max(event.at_ms);
        let figures = &mut self.figures;
        figures.events += 1;
        figures.judged += u64::from(is_judged);
        match &event.what {
            What::Joined(joined) => {
                figures.numbers += joined.count;
                figures.entries += joined.entered;
            }
            What::Claimed(claimed) if matches!(claimed.outcome, ClaimedAs::Seated(_)) => {
                figures.entries += 1;
            }
            What::Ended(ended) => {
                figures.ended += ended.sessions.iter().filter(|one| one.ended).count() as u64;
            }
            What::Unknown(_) => figures.unknown += 1,
            _ => {}
        }
    }

    /// Counts a violation; returns how many there are of its kind.
    pub(super) fn tell(&mut self, violation: &Violation) -> u64 {
        let kind = (violation.invariant, violation.room.clone());
        let count = self.told.entry(kind).or_default();
        *count += 1;
        *count
    }

    pub(super) fn figures(&self, rooms: usize) -> Figures {
        let mut violations = BTreeMap::new();
        for ((invariant, _), count) in &self.told {
            *violations.entry(invariant.code()).or_default() += count;
        }
        Figures {
            rooms: rooms as u64,
            span_ms: self.last_ms.saturating_sub(self.first_ms.unwrap_or(0)),
            violations,
            ..self.figures.clone()
        }
    }
}
