//! Within a generation, numbers are handed out without a gap.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::{
    Call, Event, Invariant, What,
    check::{Check, Facts, Findings, Seen},
};

/// The numbers of one generation follow each other.
///
/// A violation: numbers between two joins of one reset epoch and generation that no join was handed, though
/// no join's outcome is unknown that could have taken them. Why: a number that nobody holds is a place in
/// front of everyone behind it, and a counter that jumps has been written by something else than a join.
///
/// Not a violation: a gap where the generation changes, since a restored counter is set ahead of all that
/// may have been handed out; a gap between numbers of the sides of a split, which may all have come to one
/// generation, each by leaving out other numbers; a gap around a number that the leader heard of late, or that somebody
/// came with before who had it from the other side; a gap that joins of unknown outcome fill which began before the
/// number behind it was known; any gap in a history that is not complete. That a killed instance took numbers with it
/// is told by [`What::Cut`], from when on histories are not complete.
#[derive(Debug, Clone, Default)]
pub(super) struct Gapless {
    /// Reset epoch, generation and first number → how they were handed out.
    handed_out: BTreeMap<(u64, u32, u64), HandedOut>,
    /// When joins began whose outcome is unknown → how many newcomers they may have numbered.
    unknown: BTreeMap<u64, u64>,
    /// Numbers of which the leader has heard late.
    heard_late: BTreeSet<u64>,
    /// Reset epoch, generation and number → when somebody asked first who had it.
    came: BTreeMap<(u64, u32, u64), u64>,
    /// Reset epoch and number → the same, of those who were not answered.
    may_have_come: BTreeMap<(u64, u64), u64>,
}

#[derive(Debug, Clone)]
struct HandedOut {
    last: u64,
    /// See [`Seen::server`].
    server: usize,
    event: Arc<Event>,
}

// === impl Gapless ===

impl Check for Gapless {
    fn observe(&mut self, now: &Seen<'_>, _facts: &Facts, _found: &mut Findings<'_>) {
        self.take(now);
    }

    /// Numbers of one generation may be handed out on both sides of a split.
    fn hear_apart(&mut self, now: &Seen<'_>, _facts: &Facts, _found: &mut Findings<'_>) {
        self.take(now);
    }

    fn finish(&mut self, facts: &Facts, found: &mut Findings<'_>) {
        if !facts.bounds.is_complete {
            return;
        }
        let joins = self.handed_out.iter();
        for ((before, joined), (key, next)) in joins.clone().zip(joins.skip(1)) {
            let last = joined.last;
            let gap = key.2.saturating_sub(last + 1);
            let is_one_row = (before.0, before.1) == (key.0, key.1) && joined.server == next.server;
            let at_ms = next.event.at_ms;
            if !is_one_row || gap == 0 || self.is_left_out(last, *key, at_ms) {
                continue;
            }
            let unknown = self.unknown_by(at_ms);
            if gap <= unknown {
                continue;
            }
            let what = format!(
                "{gap} numbers after {last} were handed to nobody, and joins of unknown outcome \
                 explain only {unknown}"
            );
            found.add(Invariant::Gapless, what, &[&joined.event, &next.event]);
        }
    }
}

impl Gapless {
    fn take(&mut self, now: &Seen<'_>) {
        match &now.what {
            What::Joined(joined) if joined.count > 0 => {
                let key = (joined.reset_epoch, joined.generation, joined.first);
                let last = joined.first + joined.count - 1;
                self.handed_out
                    .insert(key, HandedOut { last, server: now.server, event: now.keep() });
            }
            What::Unknown(Call::Join { count, .. }) => {
                *self.unknown.entry(now.began_ms).or_default() += count;
            }
            What::Sent(Call::CatchUp { queue_counter }) => {
                self.heard_late.insert(*queue_counter);
            }
            What::Claimed(claimed) if claimed.id_epoch == claimed.reset_epoch => {
                let key = (claimed.reset_epoch, claimed.generation, claimed.number);
                let came = self.came.entry(key).or_insert(now.began_ms);
                *came = now.began_ms.min(*came);
            }
            What::Unknown(Call::Claim { reset_epoch, number, .. }) => {
                let came =
                    self.may_have_come.entry((*reset_epoch, *number)).or_insert(now.began_ms);
                *came = now.began_ms.min(*came);
            }
            _ => {}
        }
    }

    /// How many newcomers may have been numbered without an answer before a number that was known at `at_ms`: who asks
    /// later gets a later one.
    fn unknown_by(&self, at_ms: u64) -> u64 {
        self.unknown.range(..=at_ms).map(|(_, count)| count).sum()
    }

    /// Whether one of the numbers between `last` and the first of `next` was known to be somebody's, by `at_ms`.
    fn is_left_out(&self, last: u64, next: (u64, u32, u64), at_ms: u64) -> bool {
        let (epoch, generation, first) = next;
        let came = self.came.range((epoch, generation, last + 1)..next).map(|(_, came)| came);
        let may_have = self.may_have_come.range((epoch, last + 1)..(epoch, first));
        self.heard_late.range(last + 1..first).next().is_some()
            || came.chain(may_have.map(|(_, came)| came)).any(|came_ms| *came_ms <= at_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Bounds, Claimed, ClaimedAs, SessionApi,
        checks::testing::{EPOCH, History, claimed, joined},
    };

    fn gaps(history: History) -> usize {
        let found = history.holds().finish().violations;
        assert!(found.iter().all(|found| found.invariant == Invariant::Gapless), "{found:?}");
        found.len()
    }

    fn lost(count: u64) -> What {
        What::Unknown(Call::Join { count, networks: Vec::new() })
    }

    #[test]
    fn a_gap_that_nothing_explains_is_found_in_whatever_order_joins_are_known() {
        let night = || History::new().does(5, joined(4, 2)).does(6, joined(1, 3));
        assert_eq!(gaps(night().does(7, joined(6, 1))), 0);
        assert_eq!(gaps(night().does(7, joined(8, 1))), 1);
    }

    #[test]
    fn joins_of_unknown_outcome_explain_as_many_numbers() {
        let night = |lost_count| {
            History::new().does(5, joined(1, 3)).does(6, lost(lost_count)).does(7, joined(6, 1))
        };
        assert_eq!((gaps(night(2)), gaps(night(1))), (0, 1));
    }

    #[test]
    fn joins_of_unknown_outcome_explain_no_number_below_one_that_was_known_before_they_began() {
        let night = |began_ms| {
            let known = History::new().does(5, joined(1, 3)).does(7, joined(6, 1));
            gaps(known.call((began_ms, 9), "b", lost(2)))
        };
        assert_eq!([4, 7, 8].map(night), [0, 0, 1]);
    }

    #[test]
    fn numbers_that_the_leader_hears_of_late_are_left_out() {
        let late = |queue_counter| {
            let sent = What::Sent(Call::CatchUp { queue_counter });
            History::new().does(5, joined(1, 3)).does(6, sent).does(7, joined(9, 1))
        };
        assert_eq!([8, 4].map(|number| gaps(late(number))), [0, 0]);
        assert_eq!([3, 9].map(|number| gaps(late(number))), [1, 1]);
    }

    #[test]
    fn numbers_below_one_that_somebody_came_with_are_left_out() {
        let night =
            |came: What| History::new().does(5, joined(1, 3)).does(6, came).does(7, joined(9, 1));
        let came = |number| claimed(number, ClaimedAs::NotServed);
        assert_eq!(gaps(night(came(8))), 0);
        assert_eq!([3, 9].map(|number| gaps(night(came(number)))), [1, 1]);
        let unanswered = What::Unknown(Call::Claim {
            reset_epoch: EPOCH,
            number: 8,
            position: None,
            api: SessionApi::Visitor,
            network: None,
        });
        assert_eq!(gaps(night(unanswered)), 0);
        let after = History::new().does(5, joined(1, 3)).does(7, joined(9, 1)).does(8, came(8));
        assert_eq!(gaps(after), 1, "it came after");
        let other = |change: fn(&mut Claimed)| {
            let mut other = came(8);
            let What::Claimed(claimed) = &mut other else { unreachable!() };
            change(claimed);
            gaps(night(other))
        };
        assert_eq!(other(|claimed| claimed.generation += 1), 1, "on the other side");
        assert_eq!(other(|claimed| claimed.id_epoch -= 1), 1, "of before a reset");
    }

    #[test]
    fn a_restored_counter_may_be_ahead_and_so_may_one_that_a_killed_instance_moved() {
        let mut restored = joined(20, 1);
        let What::Joined(join) = &mut restored else { unreachable!() };
        join.generation += 1;
        assert_eq!(gaps(History::new().does(5, joined(1, 3)).does(7, restored)), 0);
        let killed = History::new().does(5, joined(1, 3)).does(6, What::Cut);
        assert_eq!(gaps(killed.does(7, joined(20, 1))), 0);
        let bounds = Bounds { is_complete: false, ..Bounds::default() };
        let partial = History::with(bounds).does(5, joined(1, 3));
        assert_eq!(gaps(partial.does(7, joined(20, 1))), 0);
    }
}
