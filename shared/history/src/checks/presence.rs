//! Whoever checks in as told is not taken for absent, and whoever has gone is not taken for present.

use std::{collections::VecDeque, sync::Arc};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    Act, Asked, Call, Event, Invariant, SnapshotSeen, ToldStatus, What,
    check::{Check, Facts, Findings, Seen, Turn},
};

/// Without a snapshot for so long, the room may excuse everyone for a while, ms.
const PAUSE_MS: u64 = 10_000;

/// Presence is what visitors did.
///
/// A violation, of one visitor: an honest one that has not entered is told that its place expired,
/// although by the rules it can neither have been absent for longer than the grace time, counted from
/// when it was told to ask again, nor have let its turn pass. Why: it did what it was told.
///
/// A violation, of the count (only if all visitors are in the history): the leader counts more people as
/// waiting than are there, or closed their tab within `ghost_ms`, or became something else within
/// `settles_ms`. Why: seats are kept for people who are counted.
///
/// Not a violation: expiry after a reset or a deletion may have taken effect, of somebody whose
/// session ran out, or whose place an operator may have revoked; anything that hostile visitors are told; counts within `ghost_ms` of a restoration,
/// of a pause of the leaders, or of a room that turned people away, since all are excused then; the same during and
/// after a split, since who leaves on one side is there on the other.
#[derive(Debug, Clone, Default)]
pub(super) struct Presence {
    visitors: FxHashMap<Arc<str>, Guest>,
    there: u64,
    /// Those who are not there any more, but may be counted until then, ms.
    going: VecDeque<u64>,
    generation: u32,
    snapshot_ms: u64,
    excused_until_ms: u64,
    /// Reset epoch and number of places that were to be ended.
    ended: FxHashSet<(u64, u64)>,
}

#[derive(Debug, Clone)]
struct Guest {
    arrived: Arc<Event>,
    number: u64,
    reset_epoch: u64,
    honest: bool,
    state: State,
    /// The last answer, and when it said to ask again.
    last: Arc<Event>,
    due_ms: u64,
    position: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    There,
    TabClosed,
    Entered,
    Gone,
}

// === impl Presence ===

impl Check for Presence {
    fn observe(&mut self, now: &Seen<'_>, facts: &Facts, found: &mut Findings<'_>) {
        match &now.what {
            What::Visitor(Act::Arrived { number, reset_epoch, honest }) => {
                self.turns(now, State::Gone, facts);
                let guest = Guest::new(now, *number, *reset_epoch, *honest);
                self.there += 1;
                self.visitors.insert(Arc::clone(&now.by), guest);
            }
            What::Visitor(Act::ClosedTab) => self.turns(now, State::TabClosed, facts),
            What::Visitor(Act::CameBack) => self.turns(now, State::There, facts),
            What::Visitor(Act::Entered { .. }) => self.turns(now, State::Entered, facts),
            What::Visitor(Act::Left | Act::GaveUp) => self.turns(now, State::Gone, facts),
            What::Visitor(Act::Asked(asked)) => self.asked(asked, now, facts, found),
            What::Snapshot(seen) if facts.bounds.has_all_visitors => {
                self.counted(seen, now, facts, found);
            }
            What::Sent(Call::End { .. }) => self.may_revoke(now),
            What::Unknown(Call::Join { count, .. }) => {
                let until = now.at_ms + facts.bounds.ghost_ms;
                self.going.extend((0..*count).map(|_| until));
            }
            _ => {}
        }
    }

    /// What is revoked on the other side is told to whoever asks there.
    fn hear_apart(&mut self, now: &Seen<'_>, _facts: &Facts, _found: &mut Findings<'_>) {
        self.may_revoke(now);
    }

    fn turn(&mut self, turn: &Turn, facts: &Facts) {
        self.excused_until_ms = turn.at_ms + facts.bounds.ghost_ms;
    }
}

impl Presence {
    fn may_revoke(&mut self, now: &Seen<'_>) {
        if let What::Sent(Call::End { reset_epoch, numbers }) = &now.what {
            self.ended.extend(numbers.iter().map(|number| (*reset_epoch, *number)));
        }
    }

    fn turns(&mut self, now: &Seen<'_>, state: State, facts: &Facts) {
        let Some(guest) = self.visitors.get_mut(&now.by) else { return };
        let before = std::mem::replace(&mut guest.state, state);
        match (before == State::There, state == State::There) {
            (true, false) => {
                self.there -= 1;
                let bounds = &facts.bounds;
                let closed = state == State::TabClosed;
                let may_count = if closed { bounds.ghost_ms } else { bounds.settles_ms };
                self.going.push_back(now.at_ms + may_count);
            }
            (false, true) => self.there += 1,
            _ => {}
        }
    }

    fn asked(&mut self, asked: &Asked, now: &Seen<'_>, facts: &Facts, found: &mut Findings<'_>) {
        let Some(guest) = self.visitors.get_mut(&now.by) else { return };
        if asked.status == ToldStatus::Expired {
            let was_revoked = self.ended.contains(&(guest.reset_epoch, guest.number));
            if guest.honest && guest.state == State::There && !was_revoked {
                guest.judge(now, facts, found);
            }
            self.turns(now, State::Gone, facts);
            return;
        }
        guest.position = asked.position.or(guest.position);
        (guest.last, guest.due_ms) = (now.keep(), now.began_ms + asked.next_ms);
        if asked.status == ToldStatus::Admitted {
            self.turns(now, State::Entered, facts);
        }
    }

    fn counted(
        &mut self,
        seen: &SnapshotSeen,
        now: &Seen<'_>,
        facts: &Facts,
        found: &mut Findings<'_>,
    ) {
        let paused = now.at_ms.saturating_sub(self.snapshot_ms) > PAUSE_MS;
        if paused || seen.generation != self.generation || seen.rules.rejects {
            self.excused_until_ms = now.at_ms + facts.bounds.ghost_ms;
        }
        (self.generation, self.snapshot_ms) = (seen.generation, now.at_ms);
        self.going.retain(|until| *until >= now.at_ms);
        let most = self.there + self.going.len() as u64;
        if seen.waiting > most && now.at_ms >= self.excused_until_ms {
            let waiting = seen.waiting;
            let what = format!("{waiting} people count as waiting, and {most} can be there");
            found.add(Invariant::Presence, what, &[now]);
        }
    }
}

// === impl Guest ===

impl Guest {
    fn new(now: &Seen<'_>, number: u64, reset_epoch: u64, honest: bool) -> Self {
        Self {
            arrived: now.keep(),
            number,
            reset_epoch,
            honest,
            state: State::There,
            last: now.keep(),
            due_ms: now.began_ms,
            position: None,
        }
    }

    /// It is told that its place expired: may that be?
    fn judge(&self, now: &Seen<'_>, facts: &Facts, found: &mut Findings<'_>) {
        let rules = || facts.rules(self.last.began_ms, now.at_ms);
        let shortest = |seconds: Option<u64>| seconds.map(|seconds| seconds.saturating_mul(1000));
        let grace = rules().map(|rules| rules.grace_seconds.unwrap_or(u64::MAX)).min();
        let expiry = rules().map(|rules| rules.position_expiry_seconds.unwrap_or(u64::MAX)).min();
        let (Some(grace), Some(expiry)) = (shortest(grace), shortest(expiry)) else { return };
        let absent_ms = now.at_ms.saturating_sub(self.due_ms);
        let position = self.position.unwrap_or(self.number);
        let unserved = facts.unserved_until(self.reset_epoch, position);
        let served_ms = now.at_ms.saturating_sub(unserved.max(self.arrived.began_ms / 1000 * 1000));
        let may_be = absent_ms > grace || served_ms >= expiry.saturating_mul(2);
        if !may_be && !facts.may_be_void(self.arrived.began_ms) {
            let what = format!(
                "{} is told that its place expired, after {absent_ms} ms of absence",
                now.by
            );
            found.add(Invariant::Presence, what, &[&self.arrived, &self.last, now]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Bounds,
        checks::testing::{EPOCH, History, arrived, asked, put, rules, snapshot},
    };

    fn visitor(history: History, at_ms: u64, what: What) -> History {
        history.call((at_ms, at_ms), "ann", what)
    }

    /// Arrives at 1 s, is told at 2 s to come back within 1 s.
    fn waits() -> History {
        let history = visitor(History::ruled(rules()), 1_000, arrived(5));
        visitor(history, 2_000, asked(ToldStatus::Waiting, 5))
    }

    fn expired() -> What {
        asked(ToldStatus::Expired, 5)
    }

    #[test]
    fn a_place_expires_after_the_grace_time_and_not_before() {
        visitor(waits(), 303_000, expired()).breaks(Invariant::Presence);
        visitor(waits(), 303_001, expired()).holds();
    }

    #[test]
    fn a_turn_that_passed_is_another_reason() {
        let served = What::Served { reset_epoch: EPOCH, serving_counter: 4 };
        let mut history = waits().does(3_000, served);
        for second in (10..=1_790).step_by(10) {
            history = visitor(history, second * 1000, asked(ToldStatus::YourTurn, 5));
        }
        visitor(history, 1_803_000, expired()).holds();
    }

    #[test]
    fn resets_revocations_sessions_and_hostile_visitors_are_other_matters() {
        let reset = What::Sent(Call::Reset);
        visitor(waits().does(2_500, reset), 3_000, expired()).holds();
        let end = What::Sent(Call::End { reset_epoch: EPOCH, numbers: vec![5] });
        visitor(waits().does(2_500, end), 3_000, expired()).holds();
        let other = What::Sent(Call::End { reset_epoch: EPOCH, numbers: vec![6] });
        visitor(waits().does(2_500, other), 3_000, expired()).breaks(Invariant::Presence);
        let inside = visitor(waits(), 2_500, asked(ToldStatus::Admitted, 5));
        visitor(inside, 3_000, expired()).holds();
        let hostile = Act::Arrived { number: 5, reset_epoch: EPOCH, honest: false };
        let history = visitor(History::ruled(rules()), 1_000, What::Visitor(hostile));
        visitor(history, 3_000, expired()).holds();
    }

    #[test]
    fn who_has_gone_counts_for_a_while_only() {
        let counts = |waiting| What::Snapshot(SnapshotSeen { waiting, ..snapshot(0, rules()) });
        let bounds = Bounds { has_all_visitors: true, ghost_ms: 5_000, ..Bounds::default() };
        let history = History::with(bounds)
            .does(0, put(Some(1), rules(), crate::PutAs::Created))
            .does(1, counts(0));
        let history = visitor(history, 6_000, arrived(5)).does(6_001, counts(1)).holds();
        let history = visitor(history, 7_000, What::Visitor(Act::ClosedTab));
        let history = history.does(12_000, counts(1)).holds();
        history.does(12_001, counts(1)).breaks(Invariant::Presence);
    }
}
