//! In fifo nobody at the door is overtaken by more than the slack.

mod attendee;
mod kept_out;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};

use self::{
    attendee::{Attendee, Entry, Late},
    kept_out::KeptOut,
};
use crate::{
    Act, Claimed, ClaimedAs, Event, Figures, Rules, ToldStatus, What,
    check::{Check, Facts, Findings, Seen, Turn, Waits},
};

/// Of the entries of so many ms only the highest position is remembered.
const STEP_MS: u64 = 100;
/// Entries are remembered for so long: nobody who is at the door looks further back.
const KEPT_MS: u64 = 15_000;

/// Whoever asks at the door all the time enters at most so much later than the first who came after it.
///
/// Somebody is *at the door* from the answer to an ask on, as long as each next ask begins within
/// `attending_ms` of the last answer. An ask is a claim that found no seat or was not served, or a
/// visitor's question that was answered `waiting`. Somebody who is told that it is its turn and does not
/// claim is not asking for a seat; nor is somebody whose question was answered later than questions are held,
/// since the instance was away and no store heard of it.
///
/// A violation: somebody at the door asks in vain, or enters, more than `overtaking_ms` after the entry
/// of a higher position was known, whose call began when it was at the door already. Why: order is what a
/// waiting room promises.
///
/// Not a violation: overtaking somebody who was not at the door; entries under way when it came to
/// the door; overtaking by less than the slack, which is the standby group's; rooms that are not
/// certainly fifo all that time; overtaking somebody whose network has its seats, or may have them: who came when somebody
/// of its network had entered, or was kept out, as long as no claim has said otherwise since; or whose place is over,
/// because it was given up or its session is over, though somebody else has its ticket and asks on; being overtaken before
/// the limits are lowered, or everyone is held or turned away, which takes the seats away that were free; and whoever comes
/// for a seat that was held for it, since it took its turn when it was called; being overtaken and then losing the seat
/// that was left to somebody before both, who came to the door only then; and whoever was at the door when the servers lost
/// a key of the room, in which that may have been. Before a
/// split is over nothing follows for after it, nor the other way round; while it lasts, only claims show on which side
/// somebody asks.
#[derive(Debug, Clone, Default)]
pub(super) struct FifoOrder {
    door: FxHashMap<u64, Attendee>,
    entries: VecDeque<Entry>,
    /// Who came to the door, and has entered since. Each took a seat that may have been left to one behind it.
    late: VecDeque<Late>,
    /// Positions for which a seat is or was held: they took their turn then.
    called: FxHashSet<u64>,
    kept_out: KeptOut,
    /// When a key of the room was lost: nobody knows of what was asked before.
    lost_ms: u64,
    overtaken: u64,
    longest_ms: u64,
}

// === impl FifoOrder ===

impl Check for FifoOrder {
    fn observe(&mut self, now: &Seen<'_>, facts: &Facts, found: &mut Findings<'_>) {
        self.kept_out.learn(now);
        if matches!(now.what, What::Visitor(_)) && facts.may_be_apart(now) {
            return;
        }
        if matches!(now.what, What::KeyLost) {
            self.door.clear();
            self.lost_ms = now.at_ms;
        } else if let Some(position) = asking(now) {
            if self.kept_out.positions.contains(&position) {
                return;
            }
            if facts.is_over(position) {
                self.door.remove(&position);
                return;
            }
            if !is_fifo(facts, now) {
                self.door.clear();
                return;
            }
            self.ask(position, now, facts, found);
        } else if let Some((first, last)) = entering(now) {
            if !is_fifo(facts, now) {
                self.door.clear();
                return;
            }
            for position in first..=last {
                self.enter(position, now, facts, found);
            }
            if !self.called.remove(&last) {
                self.remember(last, now);
            }
        } else if let Some(position) = held(now).filter(|_| is_fifo(facts, now))
            && self.called.insert(position)
        {
            self.enter(position, now, facts, found);
            self.remember(position, now);
        } else if let Some(position) = kept_out(now) {
            self.door.remove(&position);
        }
    }

    fn turn(&mut self, _turn: &Turn, _facts: &Facts) {
        self.door.clear();
        self.entries.clear();
        self.late.clear();
    }

    fn measure(&self, figures: &mut Figures, _waits: &mut Waits) {
        figures.overtaken += self.overtaken;
        figures.longest_overtaking_ms = figures.longest_overtaking_ms.max(self.longest_ms);
    }
}

impl FifoOrder {
    fn ask(&mut self, position: u64, now: &Seen<'_>, facts: &Facts, found: &mut Findings<'_>) {
        if now.began_ms <= self.lost_ms {
            return;
        }
        let attending_ms = facts.bounds.attending_ms;
        let known = self.door.get_mut(&position);
        let known = known.filter(|known| now.began_ms <= known.last_ms + attending_ms);
        let Some(attendee) = known else {
            self.door.insert(position, Attendee::new(now));
            return;
        };
        attendee.look(position, &self.entries, now);
        attendee.last_ms = attendee.last_ms.max(attendee::asked_until(now));
        attendee.forgive(position, &mut self.late, &self.entries, now, facts);
        attendee.judge(position, now, facts, found);
    }

    fn enter(&mut self, position: u64, now: &Seen<'_>, facts: &Facts, found: &mut Findings<'_>) {
        let attending_ms = facts.bounds.attending_ms;
        let attendee = self.door.remove(&position);
        let attendee = attendee.filter(|known| now.began_ms <= known.last_ms + attending_ms);
        let came_ms = attendee.as_ref().map_or(now.began_ms, |attendee| attendee.first.began_ms);
        self.late.push_back(Late { position, came_ms, entered_ms: now.at_ms });
        let Some(mut attendee) = attendee else { return };
        attendee.look(position, &self.entries, now);
        attendee.forgive(position, &mut self.late, &self.entries, now, facts);
        attendee.judge(position, now, facts, found);
        if let Some(by) = attendee.overtaken {
            self.overtaken += 1;
            self.longest_ms = self.longest_ms.max(now.at_ms.saturating_sub(by.at_ms));
        }
    }

    fn remember(&mut self, position: u64, now: &Seen<'_>) {
        let step = now.at_ms / STEP_MS;
        match self.entries.back_mut() {
            Some(last) if last.step == step => {
                if position > last.position {
                    (last.position, last.event) = (position, now.keep());
                }
            }
            _ => self.entries.push_back(Entry { step, position, event: now.keep() }),
        }
        while self
            .entries
            .front()
            .is_some_and(|first| (first.step + 1) * STEP_MS + KEPT_MS < now.at_ms)
        {
            self.entries.pop_front();
        }
        while self.late.front().is_some_and(|first| first.entered_ms + KEPT_MS < now.at_ms) {
            self.late.pop_front();
        }
    }
}

/// The position that asks for a seat and gets none.
pub(super) fn asking(event: &Event) -> Option<u64> {
    match &event.what {
        What::Claimed(claimed) => {
            let in_vain = matches!(claimed.outcome, ClaimedAs::NoSeat | ClaimedAs::NotServed);
            // Whoever asks for a hold and gets none does not stand at the door; nor does whoever its network keeps out.
            claimed.position.filter(|_| in_vain && !claimed.hold && !is_kept_out(claimed))
        }
        What::Visitor(Act::Asked(asked)) => {
            let turn = asked.status == ToldStatus::YourTurn && asked.claimed;
            asked.position.filter(|_| turn || asked.status == ToldStatus::Waiting)
        }
        _ => None,
    }
}

/// The position that its network keeps out: it does not stand at the door, however often it asks.
pub(super) fn kept_out(event: &Event) -> Option<u64> {
    let What::Claimed(claimed) = &event.what else { return None };
    claimed.position.filter(|_| is_kept_out(claimed))
}

fn is_kept_out(claimed: &Claimed) -> bool {
    claimed.network.is_some_and(|network| network.kept_out)
}

/// The first and last position that enter.
pub(super) fn entering(event: &Event) -> Option<(u64, u64)> {
    match &event.what {
        What::Joined(joined) if joined.entered > 0 => {
            Some((joined.first, joined.first + joined.entered - 1))
        }
        What::Claimed(claimed) if matches!(claimed.outcome, ClaimedAs::Seated(_)) => {
            claimed.position.map(|position| (position, position))
        }
        _ => None,
    }
}

/// The position for which a seat is held.
fn held(event: &Event) -> Option<u64> {
    let What::Claimed(claimed) = &event.what else { return None };
    claimed.position.filter(|_| matches!(claimed.outcome, ClaimedAs::Held { .. }))
}

fn is_fifo(facts: &Facts, now: &Event) -> bool {
    let mut rules = facts.rules(now.began_ms, now.at_ms).peekable();
    rules.peek().is_some() && rules.all(Rules::is_fifo)
}
