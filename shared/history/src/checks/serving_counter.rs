//! The serving counter goes back only by an operator's act.

use std::{collections::VecDeque, sync::Arc};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    Call, Event, Invariant, What,
    check::{Check, Facts, Findings, Seen, Turn},
};

/// How many of the highest counters are remembered, for calls that were long under way.
const REMEMBERED: usize = 4_096;

/// A serving counter that somebody has learnt is never followed by a lower one.
///
/// A violation: an answer with a lower counter, to a call that began after the higher one was
/// known; a pushed snapshot with a lower counter than the one that the same service was pushed before.
/// Why: those served have been told that it is their turn.
///
/// Not a violation: answers to calls that were under way together; a pushed snapshot that came late,
/// since nothing is known of when it was made: so each service may be pushed a lower one as often as an
/// operator took the counter back; two of which it is not known which came first, since their spans
/// overlap; anything lower after an operator's negative increment
/// was sent, until it is answered (or as long as an unanswered call may still take effect); another
/// reset epoch; a counter of one side of a split, and a lower one on the other: each has its own, and as they meet one
/// side may be pushed what the other has served, before it is known that they have met.
#[derive(Debug, Clone, Default)]
pub(super) struct ServingCounter {
    epochs: FxHashMap<u64, Highest>,
    pushed: FxHashMap<(Arc<str>, u64), Pushed>,
    /// Negative increments that were sent: by whom, and when.
    under_way: Vec<(Arc<str>, u64)>,
    /// When the last one was answered, and how many were.
    lowered_ms: Option<u64>,
    lowered: u64,
    /// Who is apart, and whether one of them took the counter back.
    apart: Vec<Arc<str>>,
    lowered_apart: bool,
    /// What those apart have served.
    served_apart: FxHashSet<i64>,
}

/// What a service was pushed last.
#[derive(Debug, Clone)]
struct Pushed {
    counter: i64,
    event: Arc<Event>,
    /// How often it was pushed a lower one than before.
    lowered: u64,
}

/// Ever higher counters, and when each was first known.
#[derive(Debug, Clone, Default)]
struct Highest(VecDeque<(u64, i64, Arc<Event>)>);

// === impl ServingCounter ===

impl Check for ServingCounter {
    fn observe(&mut self, now: &Seen<'_>, facts: &Facts, found: &mut Findings<'_>) {
        match &now.what {
            What::Sent(Call::Increment { by }) if *by < 0 => {
                self.under_way.push((Arc::clone(&now.by), now.at_ms));
            }
            What::Incremented { by, .. } if *by < 0 => self.lowered(now),
            What::Incremented { reset_epoch, serving_counter, .. }
            | What::Served { reset_epoch, serving_counter } => {
                self.answered(*reset_epoch, *serving_counter, now, facts, found);
            }
            What::Joined(joined) => {
                self.answered(joined.reset_epoch, joined.serving_counter, now, facts, found);
            }
            What::Snapshot(seen) if seen.pushed => {
                self.pushed(seen.reset_epoch, seen.serving_counter, now, facts, found);
            }
            What::Snapshot(seen) => {
                self.answered(seen.reset_epoch, seen.serving_counter, now, facts, found);
            }
            _ => {}
        }
    }

    fn hear_apart(&mut self, now: &Seen<'_>, _facts: &Facts, _found: &mut Findings<'_>) {
        // What was done before the servers parted may be known on either side.
        match &now.what {
            What::Sent(Call::Increment { by }) if *by < 0 => {
                self.lowered_apart = true;
                self.under_way.push((Arc::from(""), now.at_ms));
            }
            What::Incremented { by, .. } if *by < 0 => self.lowered += 1,
            What::Served { serving_counter, .. } => {
                self.served_apart.insert(*serving_counter);
            }
            _ => {}
        }
    }

    fn turn(&mut self, turn: &Turn, _facts: &Facts) {
        if !turn.is_over {
            self.apart.clone_from(&turn.apart);
            return;
        }
        self.served_apart.clear();
        // They were pushed the other side's.
        for by in std::mem::take(&mut self.apart) {
            self.pushed.retain(|(pushed, _), _| *pushed != by);
        }
        if std::mem::take(&mut self.lowered_apart) {
            self.under_way.push((Arc::from(""), turn.at_ms));
        }
    }
}

impl ServingCounter {
    /// Whether the counter may have been taken back after `since_ms`.
    fn may_lower(&self, since_ms: u64, settles_ms: u64) -> bool {
        self.lowered_ms.is_some_and(|lowered| lowered >= since_ms)
            || self.under_way.iter().any(|(_, sent)| sent + settles_ms >= since_ms)
    }

    fn lowered(&mut self, now: &Seen<'_>) {
        let own = self.under_way.iter().position(|(by, _)| *by == now.by);
        own.map(|own| self.under_way.swap_remove(own));
        self.lowered_ms = Some(now.at_ms);
        self.lowered += 1;
        self.epochs.clear();
    }

    fn answered(
        &mut self,
        epoch: u64,
        counter: i64,
        now: &Seen<'_>,
        facts: &Facts,
        found: &mut Findings<'_>,
    ) {
        let highest = self.epochs.entry(epoch).or_default();
        if let Some((was, before)) = highest.before(now.began_ms)
            && counter < was
        {
            let before = Arc::clone(before);
            if !self.may_lower(before.began_ms, facts.bounds.settles_ms) {
                add(was, counter, &before, now, found);
            }
            return;
        }
        highest.take(counter, now);
    }

    fn pushed(
        &mut self,
        epoch: u64,
        counter: i64,
        now: &Seen<'_>,
        facts: &Facts,
        found: &mut Findings<'_>,
    ) {
        let new = |lowered| Pushed { counter, event: now.keep(), lowered };
        let key = (Arc::clone(&now.by), epoch);
        let is_higher = self.pushed.get(&key).is_some_and(|before| before.counter < counter);
        if is_higher && self.served_apart.contains(&counter) {
            return;
        }
        let Some(before) = self.pushed.insert(key.clone(), new(0)) else { return };
        if counter < before.counter && now.began_ms < before.event.at_ms {
            self.pushed.insert(key, before);
            return;
        }
        let mut lowered = before.lowered;
        if counter < before.counter {
            if lowered >= self.lowered
                && !self.may_lower(before.event.at_ms, facts.bounds.settles_ms)
            {
                add(before.counter, counter, &before.event, now, found);
            }
            lowered += 1;
        }
        self.pushed.insert(key, new(lowered));
    }
}

fn add(was: i64, is: i64, before: &Event, now: &Seen<'_>, found: &mut Findings<'_>) {
    let what = format!("the serving counter went from {was} back to {is}");
    found.add(Invariant::ServingCounter, what, &[before, now]);
}

// === impl Highest ===

impl Highest {
    /// The highest counter known before `began_ms`.
    fn before(&self, began_ms: u64) -> Option<(i64, &Arc<Event>)> {
        let known = self.0.partition_point(|(at_ms, _, _)| *at_ms < began_ms);
        self.0.get(known.checked_sub(1)?).map(|(_, counter, event)| (*counter, event))
    }

    fn take(&mut self, counter: i64, now: &Seen<'_>) {
        if self.0.back().is_some_and(|(_, highest, _)| counter <= *highest) {
            return;
        }
        self.0.push_back((now.at_ms, counter, now.keep()));
        if self.0.len() > REMEMBERED {
            self.0.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::testing::{EPOCH, History, rules, snapshot};

    fn served(serving_counter: i64) -> What {
        What::Served { reset_epoch: EPOCH, serving_counter }
    }

    fn pushed(serving_counter: i64) -> What {
        let seen = snapshot(serving_counter, rules());
        What::Snapshot(crate::SnapshotSeen { pushed: true, ..seen })
    }

    fn back_by(by: i64) -> [What; 2] {
        let answer = What::Incremented { reset_epoch: EPOCH, by, serving_counter: 1 };
        [What::Sent(Call::Increment { by }), answer]
    }

    #[test]
    fn it_rises_and_stands() {
        let history = History::new().does(5, served(3)).does(6, served(3)).does(7, served(9));
        history.does(8, What::Snapshot(snapshot(9, rules()))).holds();
    }

    #[test]
    fn going_back_is_found() {
        History::new().does(5, served(3)).does(6, served(2)).breaks(Invariant::ServingCounter);
        let history = History::new().does(5, pushed(3));
        history.does(6, pushed(2)).breaks(Invariant::ServingCounter);
    }

    #[test]
    fn calls_under_way_together_and_late_pushes_pass() {
        let history = History::new().does(5, served(3)).call((5, 9), "b", served(2)).holds();
        history.call((8, 10), "b", pushed(1)).call((8, 10), "c", pushed(4)).holds();
    }

    #[test]
    fn of_pushes_that_may_have_come_in_either_order_none_is_late() {
        let history = History::new().call((5, 6), "a", pushed(3)).call((5, 9), "a", pushed(2));
        let history = history.holds().call((9, 10), "a", pushed(3)).holds();
        history.call((11, 12), "a", pushed(2)).breaks(Invariant::ServingCounter);
    }

    #[test]
    fn an_operator_may_take_it_back_and_nothing_else_may_then() {
        let [sent, answer] = back_by(-5);
        let history = History::new().does(5, served(6)).call((6, 6), "c", sent);
        let history = history.does(7, served(1)).call((6, 8), "c", answer).holds();
        let history = history.does(9, served(2)).holds();
        history.does(10, served(1)).breaks(Invariant::ServingCounter);
    }

    #[test]
    fn a_call_that_was_under_way_may_have_come_before_the_operator() {
        let taken_back = || {
            let [sent, answer] = back_by(-5);
            History::new().call((6, 6), "c", sent).call((6, 8), "c", answer)
        };
        taken_back().call((7, 9), "a", served(6)).does(10, served(1)).holds();
        let after = taken_back().call((9, 9), "a", served(6)).does(10, served(1));
        after.breaks(Invariant::ServingCounter);
    }

    #[test]
    fn pushes_that_come_late_may_go_back_once_for_each_time_the_operator_did() {
        let [sent, answer] = back_by(-5);
        let history = History::new().call((6, 6), "c", sent).call((6, 8), "c", answer);
        let history = history.does(9_000, pushed(6)).does(9_001, pushed(1)).holds();
        history.does(9_002, pushed(0)).breaks(Invariant::ServingCounter);
    }

    #[test]
    fn an_increment_without_an_answer_may_take_effect_for_a_while() {
        let [sent, _] = back_by(-5);
        let history = || History::new().does(5, served(6)).call((6, 6), "c", sent.clone());
        history().does(9_000, served(1)).holds();
        let late = history().does(30_000, served(7)).holds();
        late.does(30_001, served(2)).breaks(Invariant::ServingCounter);
    }

    #[test]
    fn what_those_apart_took_back_before_may_be_known_to_the_others() {
        let servers = |are| What::Servers(are);
        let since_ms = 4;
        let split = crate::ServersAre::Split { since_ms, apart: vec!["c".into()] };
        let begun = || History::new().does(since_ms, servers(crate::ServersAre::Lagging));
        let [sent, answer] = back_by(-5);
        let history = begun().does(5, served(6)).call((6, 6), "c", sent).call((6, 7), "c", answer);
        let history = history.does(8, servers(split.clone()));
        history.does(9, served(1)).does(10, pushed(1)).holds();
        let history = begun().does(5, served(6)).does(8, servers(split));
        history.does(9, served(1)).breaks(Invariant::ServingCounter);
    }

    #[test]
    fn as_two_sides_meet_one_may_be_pushed_what_the_other_has_served() {
        let met = |by_the_other| {
            let split = crate::ServersAre::Split { since_ms: 4, apart: vec!["c".into()] };
            let history = History::new().does(4, What::Servers(crate::ServersAre::Lagging));
            let history = history.does(8, What::Servers(split));
            let history = history.call((9, 9), "c", served(by_the_other)).does(10, pushed(3));
            history.does(20, pushed(9)).does(21, pushed(4))
        };
        met(9).holds();
        met(8).breaks(Invariant::ServingCounter);
    }

    #[test]
    fn another_epoch_is_another_counter() {
        let fresh = What::Served { reset_epoch: EPOCH + 1, serving_counter: 0 };
        History::new().does(5, served(6)).does(6, fresh).does(7, served(6)).holds();
    }
}
