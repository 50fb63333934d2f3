//! How many people are ahead, as a curve over the positions: few points, rising, and between them
//! in proportion. Drawn by the leader, read by whoever tells a visitor.
//!
//! Up to the serving counter it counts who stands at the door, behind it everyone who is still
//! there. Before its first point it rises from nobody at 0, so that nobody who has been counted is
//! ever ahead of itself.

use crate::plan::TickInput;

/// Points behind the door: enough for a few per cent everywhere.
const POINTS: usize = 48;
/// Points at the door, at least, if so many stand there: up to here each is told apart.
const DOOR_POINTS: u64 = 16;

/// The curve for a line as `survey` saw it, once it is served up to `serving`; `door` people stand
/// there.
#[must_use]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts of people")]
pub(crate) fn curve(survey: &TickInput, door: u64, serving: u64) -> Vec<(u64, u64)> {
    let length = survey.queue_counter.saturating_sub(serving);
    let mut curve: Vec<_> = at_the_door(survey, door, serving).collect();
    curve.push((serving, door));
    for number in distances(length).map(|distance| serving + distance) {
        if number > curve[curve.len() - 1].0 {
            let behind = survey.there.between(serving, number).round() as u64;
            curve.push((number, door + behind));
        }
    }
    curve
}

/// How many people there are up to `number`; beyond the last point as many as there.
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

/// Where the first of `door` people stands, those at even steps behind it, and the last, with how
/// many stand up to there. Those whose presence is still on its way came last: they stand between
/// these and `serving`.
fn at_the_door(survey: &TickInput, door: u64, serving: u64) -> impl Iterator<Item = (u64, u64)> {
    let step = usize::try_from(door / DOOR_POINTS).unwrap_or(usize::MAX).max(1);
    let place = move |people| survey.attending.reach(survey.expired_position, people, serving);
    let people = (1..door).step_by(step).chain([door]);
    people.map(move |people| (place(people), people)).take_while(move |(at, _)| *at < serving)
}

/// Distances from the door: dense near it, then growing by a constant factor up to `length`.
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

    /// People at the door at these positions of a line that is served up to `serving`.
    fn door(people: impl IntoIterator<Item = u64>, serving: u64) -> TickInput {
        let attending = everyone(people);
        TickInput { queue_counter: serving, attending, ..TickInput::default() }
    }

    #[test]
    fn behind_the_door_only_those_still_there_count() {
        let there = (101..=10_100).filter(|number| number % 2 == 0);
        let one = |n| Crowd { first: n, last: n, count: 1 };
        let there = Presence::new(there.map(one).collect(), 10_100);
        let survey = TickInput { queue_counter: 10_100, there, ..TickInput::default() };
        let curve = curve(&survey, 7, 100);
        assert!(curve.len() <= POINTS + 2);
        for (position, truth) in [(101, 7), (121, 17), (1_101, 507), (9_101, 4_507)] {
            let told = ahead(&curve, position);
            assert!(told.abs_diff(truth) <= truth / 20 + 1, "{position}: {told} for {truth}");
        }
    }

    #[test]
    fn nobody_at_the_door_is_ahead_of_itself() {
        let alone = curve(&door([2], 2), 1, 2);
        assert_eq!((ahead(&alone, 2), ahead(&alone, 3)), (0, 1), "the next one waits for it");
        let few = [5, 300, 301, 302, 340];
        let curve = curve(&door(few, 350), 5, 350);
        assert_eq!(few.map(|position| ahead(&curve, position)), [0, 1, 2, 3, 4]);
        assert_eq!((ahead(&curve, 350), ahead(&curve, 351)), (5, 5), "350 was not there");
    }

    #[test]
    fn of_a_crowd_at_the_door_each_is_told_about_its_place() {
        let told = curve(&door(101..=500, 600), 400, 600);
        assert!(told.len() < 20, "{told:?}");
        for position in 101..=500 {
            let (ahead, truth) = (ahead(&told, position), position - 101);
            assert!(ahead.abs_diff(truth) <= 1, "{position}: {ahead} for {truth}");
        }
    }

    #[test]
    fn those_whose_presence_is_on_its_way_came_last() {
        let curve = curve(&door([4, 9], 20), 5, 20);
        let told = [4, 9, 20, 21].map(|position| ahead(&curve, position));
        assert_eq!(told, [0, 1, 4, 5]);
    }

    #[test]
    fn at_a_door_that_is_not_told_apart_nobody_is_told_all_of_it() {
        let curve = [(10, 3), (50, 21)];
        let told = [1, 10, 11, 51].map(|position| ahead(&curve, position));
        assert_eq!(told, [0, 2, 3, 21]);
        assert_eq!(ahead(&[(0, 3)], 1), 3, "winners stand at no place");
    }

    proptest! {
        #[test]
        fn at_the_door_there_are_at_most_the_others(
            people in prop::collection::btree_set(1..300_u64, 1..120),
            expired in 0..400_u64, unseen in 0..40_u64, further in 0..50_u64,
        ) {
            let serving = 300 + further;
            let survey = TickInput { expired_position: expired, ..door(people.clone(), serving) };
            let counted: BTreeSet<_> = people.into_iter().filter(|at| *at > expired).collect();
            let all = u64::try_from(counted.len()).unwrap() + unseen;
            let curve = curve(&survey, all, serving);
            let told: Vec<_> = (1..=serving + 5).map(|position| ahead(&curve, position)).collect();
            prop_assert!(told.is_sorted(), "{told:?}");
            prop_assert_eq!(ahead(&curve, serving + 1), all, "behind the door it is all of them");
            for (position, truth) in counted.iter().zip(0..) {
                let told = ahead(&curve, *position);
                prop_assert!(told < all);
                let about = all / DOOR_POINTS + unseen;
                prop_assert!(told.abs_diff(truth) <= about, "{told} for {truth}");
            }
        }
    }
}
