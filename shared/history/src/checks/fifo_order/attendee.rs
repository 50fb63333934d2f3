//! Whoever stands at the door, and who went past it there.

use std::{collections::VecDeque, sync::Arc};

use super::STEP_MS;
use crate::{
    Event, Invariant, Rules,
    check::{Facts, Findings, Seen},
};

/// For so long a visitor's claim is held at most while no seat is free: whoever hears nothing for longer asks, as far as
/// any store knows, no more.
const HELD_MS: u64 = 2_000;

#[derive(Debug, Clone)]
pub(super) struct Attendee {
    pub(super) first: Arc<Event>,
    pub(super) last_ms: u64,
    /// Entries up to here were looked at.
    looked_ms: u64,
    pub(super) overtaken: Option<Arc<Event>>,
    is_told: bool,
}

#[derive(Debug, Clone)]
pub(super) struct Late {
    pub(super) position: u64,
    /// When it was at the door for the first time, ms.
    pub(super) came_ms: u64,
    pub(super) entered_ms: u64,
}

#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) step: u64,
    pub(super) position: u64,
    pub(super) event: Arc<Event>,
}

// === impl Attendee ===

impl Attendee {
    pub(super) fn new(now: &Seen<'_>) -> Self {
        let first = now.keep();
        Self {
            first,
            last_ms: asked_until(now),
            looked_ms: now.at_ms,
            overtaken: None,
            is_told: false,
        }
    }

    /// Looks for the first who overtook it and was known to before `now` began.
    pub(super) fn look(&mut self, position: u64, entries: &VecDeque<Entry>, now: &Seen<'_>) {
        if self.overtaken.is_none() {
            let from =
                entries.partition_point(|entry| (entry.step + 1) * STEP_MS <= self.looked_ms);
            let overtakes = |entry: &&Entry| {
                entry.position > position
                    && entry.event.follows(&self.first)
                    && entry.event.at_ms <= now.began_ms
            };
            let by = entries.range(from..).find(overtakes);
            self.overtaken = by.map(|entry| Arc::clone(&entry.event));
        }
        self.looked_ms = self.looked_ms.max(now.began_ms);
    }

    /// Forgets who overtook it for too long and left it a seat, if somebody before both came late and took that.
    pub(super) fn forgive(
        &mut self,
        position: u64,
        late: &mut VecDeque<Late>,
        entries: &VecDeque<Entry>,
        now: &Seen<'_>,
        facts: &Facts,
    ) {
        while let Some(by) = self.overtaken.as_ref().filter(|by| is_too_long(by, now, facts)) {
            let took_its_seat = |one: &Late| one.position < position && one.came_ms > by.began_ms;
            let Some(one) = late.iter().position(took_its_seat).and_then(|at| late.remove(at))
            else {
                return;
            };
            (self.overtaken, self.looked_ms) = (None, one.came_ms);
            self.look(position, entries, now);
        }
    }

    pub(super) fn judge(
        &mut self,
        position: u64,
        now: &Seen<'_>,
        facts: &Facts,
        found: &mut Findings<'_>,
    ) {
        let Some(by) = self.overtaken.as_ref().filter(|_| !self.is_told) else { return };
        if is_too_long(by, now, facts) && !are_seats_taken_away(facts, by) {
            let late_ms = now.began_ms.saturating_sub(by.at_ms);
            let what = format!("position {position} was overtaken {late_ms} ms ago");
            found.add(Invariant::FifoOrder, what, &[&self.first, by, now]);
            self.is_told = true;
        }
    }
}

fn is_too_long(by: &Event, now: &Event, facts: &Facts) -> bool {
    now.began_ms.saturating_sub(by.at_ms) > facts.bounds.overtaking_ms
}

/// Until when whoever was answered by `now` had asked, ms.
pub(super) fn asked_until(now: &Event) -> u64 {
    now.at_ms.min(now.began_ms + HELD_MS)
}

/// Whether the seats that were left may have been taken away after this entry, before whoever it overtook had to enter: by
/// lower limits, or because nobody enters any more.
fn are_seats_taken_away(facts: &Facts, entry: &Event) -> bool {
    let until_ms = entry.at_ms + facts.bounds.overtaking_ms;
    let is_lowered = |limit: fn(&Rules) -> Option<u64>| {
        let before = facts.highest((entry.began_ms, entry.at_ms), limit).unwrap_or(u64::MAX);
        facts.rules(entry.at_ms, until_ms).any(|rules| limit(rules).is_some_and(|now| now < before))
    };
    let nobody_enters =
        || facts.rules(entry.at_ms, until_ms).any(|rules| rules.held || rules.rejects);
    is_lowered(|rules| rules.ceiling) || is_lowered(|rules| rules.per_minute) || nobody_enters()
}
