//! How many people are ahead of a position, as a curve: a few points (position, people up to it),
//! with linear interpolation between them. The leader draws it, and every service reads it to
//! answer visitors.
//!
//! Up to the serving counter the curve counts the people who are served and have no seat yet.
//! Beyond it, it counts everyone who is still there. Before its first point it rises from 0 people
//! at position 0, so nobody is counted as ahead of itself.

use crate::plan::TickInput;

/// Points beyond the serving counter: enough for an error of a few per cent at every distance.
const POINTS: usize = 48;
/// The least number of points up to the serving counter. Fewer people than this are each told their
/// exact place.
const SERVED_POINTS: u64 = 16;

/// The curve for the line of `input`, once it is served up to `serving`; `served` people up to
/// there have no seat yet.
#[must_use]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts of people")]
pub(crate) fn curve(input: &TickInput, served: u64, serving: u64) -> Vec<(u64, u64)> {
    let length = input.queue_counter.saturating_sub(serving);
    let mut curve: Vec<_> = served_points(input, served, serving).collect();
    curve.push((serving, served));
    for number in distances(length).map(|distance| serving + distance) {
        if number > curve[curve.len() - 1].0 {
            let behind = input.there.between(serving, number).round() as u64;
            curve.push((number, served + behind));
        }
    }
    curve
}

/// How many people there are up to `number`. Beyond the last point the count stays the same.
pub(crate) fn people_upto(curve: &[(u64, u64)], number: u64) -> u64 {
    let next = curve.partition_point(|(point, _)| *point < number);
    let before = next.checked_sub(1).map_or((0, 0), |before| curve[before]);
    let Some(&(high, above)) = curve.get(next) else { return before.1 };
    if number == high {
        return above;
    }
    let (low, below) = before;
    below + (above - below) * (number - low) / (high - low)
}

/// Points for the first of `served` people, for those at even steps behind it, and for the last.
/// People whose presence is not known yet came last: they stand between these points and `serving`.
fn served_points(input: &TickInput, served: u64, serving: u64) -> impl Iterator<Item = (u64, u64)> {
    let step = usize::try_from(served / SERVED_POINTS).unwrap_or(usize::MAX).max(1);
    let place = move |people| input.attending.reach(input.expired_position, people, serving);
    let people = (1..served).step_by(step).chain([served]);
    people.map(move |people| (place(people), people)).take_while(move |(at, _)| *at < serving)
}

/// Distances from the serving counter: dense near it, then growing by a constant factor up to
/// `length`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "distances in people, within 36 bits"
)]
fn distances(length: u64) -> impl Iterator<Item = u64> {
    let growth = (length.max(1) as f64).powf(1.0 / POINTS as f64);
    let distance = move |point: usize| growth.powf(point as f64).round() as u64;
    (0..POINTS).map(distance).map(move |d| d.min(length)).chain([length])
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::{
        plan::test_support::everyone,
        presence::{Crowd, Presence},
    };

    fn ahead(curve: &[(u64, u64)], position: u64) -> u64 {
        people_upto(curve, position - 1)
    }

    /// People who are served and have no seat, at these positions of a line that is served up to
    /// `serving`.
    fn input_with_served(people: impl IntoIterator<Item = u64>, serving: u64) -> TickInput {
        let attending = everyone(people);
        TickInput { queue_counter: serving, attending, ..TickInput::default() }
    }

    #[test]
    fn beyond_the_counter_only_those_still_there_count() {
        let there = (101..=10_100).filter(|number| number % 2 == 0);
        let one = |n| Crowd { first: n, last: n, count: 1 };
        let there = Presence::new(there.map(one).collect(), 10_100);
        let input = TickInput { queue_counter: 10_100, there, ..TickInput::default() };
        let curve = curve(&input, 7, 100);
        assert!(curve.len() <= POINTS + 2);
        for (position, truth) in [(101, 7), (121, 17), (1_101, 507), (9_101, 4_507)] {
            let people = ahead(&curve, position);
            assert!(people.abs_diff(truth) <= truth / 20 + 1, "{position}: {people} for {truth}");
        }
    }

    #[test]
    fn nobody_who_is_served_is_ahead_of_itself() {
        let alone = curve(&input_with_served([2], 2), 1, 2);
        assert_eq!((ahead(&alone, 2), ahead(&alone, 3)), (0, 1), "the next one waits for it");
        let few = [5, 300, 301, 302, 340];
        let curve = curve(&input_with_served(few, 350), 5, 350);
        assert_eq!(few.map(|position| ahead(&curve, position)), [0, 1, 2, 3, 4]);
        assert_eq!((ahead(&curve, 350), ahead(&curve, 351)), (5, 5), "350 was not there");
    }

    #[test]
    fn in_a_served_crowd_each_is_told_about_its_place() {
        let curve = curve(&input_with_served(101..=500, 600), 400, 600);
        assert!(curve.len() < 20, "{curve:?}");
        for position in 101..=500 {
            let (ahead, truth) = (ahead(&curve, position), position - 101);
            assert!(ahead.abs_diff(truth) <= 1, "{position}: {ahead} for {truth}");
        }
    }

    #[test]
    fn people_whose_presence_is_not_known_yet_came_last() {
        let curve = curve(&input_with_served([4, 9], 20), 5, 20);
        let counts = [4, 9, 20, 21].map(|position| ahead(&curve, position));
        assert_eq!(counts, [0, 1, 4, 5]);
    }

    #[test]
    fn before_the_first_point_the_count_rises_from_zero() {
        let curve = [(10, 3), (50, 21)];
        let counts = [1, 10, 11, 51].map(|position| ahead(&curve, position));
        assert_eq!(counts, [0, 2, 3, 21]);
        assert_eq!(ahead(&[(0, 3)], 1), 3, "winners have no position");
    }

    proptest! {
        #[test]
        fn of_served_people_at_most_all_others_are_ahead(
            people in prop::collection::btree_set(1..300_u64, 1..120),
            expired in 0..400_u64, unseen in 0..40_u64, further in 0..50_u64,
        ) {
            let serving = 300 + further;
            let input = TickInput { expired_position: expired, ..input_with_served(people.clone(), serving) };
            let counted: BTreeSet<_> = people.into_iter().filter(|at| *at > expired).collect();
            let all = u64::try_from(counted.len()).unwrap() + unseen;
            let curve = curve(&input, all, serving);
            let counts: Vec<_> = (1..=serving + 5).map(|position| ahead(&curve, position)).collect();
            prop_assert!(counts.is_sorted(), "{counts:?}");
            prop_assert_eq!(ahead(&curve, serving + 1), all, "beyond the serving counter it is all of them");
            for (position, truth) in counted.iter().zip(0..) {
                let people = ahead(&curve, *position);
                prop_assert!(people < all);
                let about = all / SERVED_POINTS + unseen;
                prop_assert!(people.abs_diff(truth) <= about, "{people} for {truth}");
            }
        }
    }
}
