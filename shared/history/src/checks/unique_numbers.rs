//! No two visitors of a room hold the same queue number.

use std::{collections::BTreeMap, sync::Arc};

use rustc_hash::FxHashMap;

use crate::{
    Act, Event, Invariant, What,
    check::{Check, Facts, Findings, Seen},
};

/// Every number is handed out once per reset epoch, and belongs to one visitor.
///
/// A violation: two joins that were handed overlapping numbers; two visitors who say that they have the
/// same. Why: the number is the place, so two holders would be one place for two people.
///
/// Not a violation: gaps; numbers out of order; numbers of a join whose answer was lost, which nobody
/// holds; the same number after a reset; number 0, by which a room that fails open lets people in.
///
/// Of both sides of a split together: whoever is apart goes on with numbers that the others leave out.
#[derive(Debug, Clone, Default)]
pub(super) struct UniqueNumbers {
    /// Reset epoch and first number → the last one, and how it is known.
    handed_out: BTreeMap<(u64, u64), (u64, Arc<Event>)>,
    visitors: FxHashMap<(u64, u64), Arc<Event>>,
}

// === impl UniqueNumbers ===

impl Check for UniqueNumbers {
    fn observe(&mut self, now: &Seen<'_>, _facts: &Facts, found: &mut Findings<'_>) {
        match &now.what {
            What::Joined(joined) if joined.count > 0 => {
                let range = (joined.first, joined.first + joined.count - 1);
                self.hand_out(joined.reset_epoch, range, now, found);
            }
            What::Visitor(Act::Arrived { number, reset_epoch, .. }) if *number > 0 => {
                self.arrive(*reset_epoch, *number, now, found);
            }
            _ => {}
        }
    }

    fn hear_apart(&mut self, now: &Seen<'_>, facts: &Facts, found: &mut Findings<'_>) {
        self.observe(now, facts, found);
    }
}

impl UniqueNumbers {
    fn hand_out(
        &mut self,
        epoch: u64,
        (first, last): (u64, u64),
        now: &Seen<'_>,
        found: &mut Findings<'_>,
    ) {
        let before = self.handed_out.range((epoch, 0)..=(epoch, last)).next_back();
        if let Some(((_, other_first), (other_last, other))) = before
            && *other_last >= first
        {
            let (low, high) = (first.max(*other_first), last.min(*other_last));
            let what = format!("numbers {low} to {high} were handed out twice");
            found.add(Invariant::UniqueNumbers, what, &[other, now]);
        }
        self.handed_out.insert((epoch, first), (last, now.keep()));
    }

    fn arrive(&mut self, epoch: u64, number: u64, now: &Seen<'_>, found: &mut Findings<'_>) {
        let other = self.visitors.entry((epoch, number)).or_insert_with(|| now.keep());
        if other.by != now.by {
            let what = format!("{} and {} both hold number {number}", other.by, now.by);
            found.add(Invariant::UniqueNumbers, what, &[other, now]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::testing::{History, arrived, joined};

    #[test]
    fn numbers_in_any_order_and_with_gaps_are_fine() {
        let history = History::new().does(5, joined(1, 3)).does(6, joined(10, 2));
        history.does(7, joined(4, 6)).does(8, joined(20_000, 1)).holds();
    }

    #[test]
    fn a_number_handed_out_twice_is_found() {
        let history = History::new().does(5, joined(1, 3)).does(6, joined(4, 6)).holds();
        history.does(7, joined(3, 1)).breaks(Invariant::UniqueNumbers);
        let history = History::new().does(5, joined(1, 30));
        history.does(7, joined(8, 2)).breaks(Invariant::UniqueNumbers);
    }

    #[test]
    fn after_a_reset_numbers_begin_again() {
        let mut again = joined(1, 3);
        let What::Joined(join) = &mut again else { unreachable!() };
        join.reset_epoch += 1;
        History::new().does(5, joined(1, 3)).does(6, again).holds();
    }

    #[test]
    fn two_visitors_with_one_number_are_found_and_one_who_says_it_twice_is_not() {
        let history = History::new().call((5, 5), "ann", arrived(7));
        let history = history.call((6, 6), "ann", arrived(7)).call((6, 6), "bob", arrived(0));
        let history = history.call((7, 7), "cid", arrived(0)).holds();
        history.call((8, 8), "bob", arrived(7)).breaks(Invariant::UniqueNumbers);
    }
}
