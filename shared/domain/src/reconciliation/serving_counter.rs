//! Where the serving counter stands, of what services have seen: at the latest that anybody knows of, because an
//! operator may take it back. Of two states of which one does not follow from the other, as the two sides of a split
//! have them, at the higher one: people were told by either that it is their turn.

use super::Testimony;
use crate::{Lineage, Stamp};

/// A serving counter, and the state of which somebody knows it.
struct Known<'a> {
    counter: i64,
    state: Stamp,
    /// Whether the nonce of that state is known.
    is_named: bool,
    follows: Option<&'a Lineage>,
}

/// The serving counter to go on with, of `testimonies` of one reset epoch.
pub(super) fn serving_counter(testimonies: &[&Testimony]) -> i64 {
    let known: Vec<Known<'_>> = testimonies.iter().map(|one| Known::of(one, testimonies)).collect();
    let is_latest = |one: &&Known<'_>| !known.iter().any(|other| other.supersedes(one));
    known.iter().filter(is_latest).map(|one| one.counter).max().unwrap_or(0)
}

// === impl Known ===

impl<'a> Known<'a> {
    fn of(one: &Testimony, all: &[&'a Testimony]) -> Self {
        let (reset_epoch, generation, seq) = one.served_at;
        let is_named = one.stamp.generation == generation;
        let nonce = if is_named { one.stamp.nonce.clone() } else { String::new() };
        let state = Stamp { reset_epoch, generation, nonce, seq };
        let mut follows = all.iter().filter(|it| is_named && it.stamp.is_of_one_time(&state));
        Self {
            counter: one.serving_counter,
            follows: follows.find_map(|it| it.follows()),
            state,
            is_named,
        }
    }

    /// Whether it is of a later state, which follows from that of `other`.
    fn supersedes(&self, other: &Self) -> bool {
        let (own, before) = (&self.state, &other.state);
        let both_named = self.is_named && other.is_named;
        let age = |stamp: &Stamp| (stamp.reset_epoch, stamp.generation);
        if age(own) == age(before) {
            return own.seq > before.seq && (!both_named || own.nonce == before.nonce);
        }
        let has_heard = |follows: &Lineage| !other.is_named || follows.covers(before);
        own.age() > before.age() && self.follows.is_none_or(has_heard)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::test_support;

    /// Somebody knows `counter` of the state of this generation, nonce and call.
    fn known(counter: i64, (generation, nonce, seq): (u32, &str, u64)) -> Testimony {
        let mut last = test_support::snapshot(900, counter);
        (last.reset_epoch, last.generation, last.seq) = (7, generation, seq);
        last.nonce = nonce.to_owned();
        Testimony::of_stored(&last)
    }

    /// The same, of a state that was put together from those of `before`.
    fn after(before: &[&Testimony], counter: i64, state: (u32, &str, u64)) -> Testimony {
        let mut known = known(counter, state);
        let states = before.iter().map(|one| (&one.stamp, one.follows()));
        known.last.follows = Some(Lineage::of(states));
        known
    }

    #[test]
    fn what_follows_from_another_supersedes_it() {
        let before = known(80, (1, "a", 20));
        assert_eq!(serving_counter(&[&before, &known(60, (1, "a", 30))]), 60);
        let anew = after(&[&before], 50, (2, "b", 40));
        assert_eq!(serving_counter(&[&anew, &before]), 50);
        let later = after(&[&anew], 40, (3, "c", 50));
        assert_eq!(serving_counter(&[&before, &later, &anew]), 40);
    }

    #[test]
    fn of_two_sides_the_one_that_was_put_together_anew_knows_nothing_of_the_other() {
        let parting = known(100, (1, "a", 300));
        let own = after(&[&parting], 196, (2, "b", 400));
        let apart = known(398, (1, "a", 500));
        assert_eq!(serving_counter(&[&own, &apart, &parting]), 398);
        let both = after(&[&own, &apart], 398, (3, "c", 501));
        let taken_back = known(120, (3, "c", 600));
        assert_eq!(serving_counter(&[&both, &taken_back, &apart, &own]), 120, "both were heard");
    }

    #[test]
    fn what_another_side_has_superseded_counts_no_more() {
        let parting = known(700, (1, "a", 300));
        let taken_back = after(&[&parting], 150, (2, "b", 320));
        let early = known(100, (1, "a", 200));
        let own = after(&[&after(&[&early], 90, (2, "c", 310))], 200, (3, "d", 400));
        assert_eq!(serving_counter(&[&own, &taken_back, &parting]), 200);
    }

    #[test]
    fn a_release_that_does_not_say_what_it_follows_from_follows_from_all_before() {
        assert_eq!(serving_counter(&[&known(10, (2, "b", 40)), &known(80, (1, "a", 90))]), 10);
    }

    #[test]
    fn what_was_known_of_a_generation_before_ones_own_is_of_no_known_side() {
        let own = Testimony { served_at: (7, 1, 45), ..known(80, (2, "b", 60)) };
        assert_eq!(serving_counter(&[&own, &known(70, (1, "a", 50))]), 70);
        assert_eq!(serving_counter(&[&own, &known(70, (1, "a", 40))]), 80);
    }
}
