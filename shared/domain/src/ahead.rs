//! How many people are ahead of a position, as a curve: a few points (position, people up to it),
//! with linear interpolation between them. The leader draws it, and every service reads it to
//! answer visitors.
//!
//! Up to the serving counter the curve counts the people who are served and have no seat yet.
//! Beyond it, it counts everyone who is still there. Before its first point it rises from 0 people
//! at position 0, so nobody is counted as ahead of itself.

use crate::{
    plan::{Plan, TickInput},
    serving::Serving,
};

/// Points beyond the serving counter: enough for an error of a few per cent at every distance.
const POINTS: usize = 48;

/// The curve for the line of `input`, once it is served as planned. Of those beyond the counter as many
/// count as are expected to come.
#[must_use]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts of people")]
pub(crate) fn curve(input: &TickInput, serving: &Serving, plan: &Plan) -> Vec<(u64, u64)> {
    let (line, from) = (input.line(), plan.serving_counter);
    // Where people enter by increments alone, someone who is served may ask at any moment. Otherwise those
    // who had the time to and did not are ahead of nobody.
    let is_operated = input.usage.slots().is_none();
    let there = if is_operated { input.there.between(input.expired_position, from) } else { 0.0 };
    let served = plan.promised.max((there * serving.known.lasting_share()).round() as u64);
    // At the door: nobody is ahead of itself, so a place counts itself and those before it.
    let door = input.door.iter().map(|(position, before)| (*position, before + 1));
    let door = door.take_while(|(position, people)| *position < from && *people <= served);
    let mut curve: Vec<_> = door.collect();
    curve.push((from, served));
    for number in distances(line.end.saturating_sub(from)).map(|distance| from + distance) {
        let (before, people) = curve[curve.len() - 1];
        if number > before {
            let behind = serving.ahead(&line, from, number).round() as u64;
            // Counts of different times may say that there are fewer behind somebody than before it.
            curve.push((number, people.max(served + behind)));
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
    use proptest::prelude::*;

    use super::*;
    use crate::plan::test_support::everyone;

    fn ahead(curve: &[(u64, u64)], position: u64) -> u64 {
        people_upto(curve, position - 1)
    }

    /// The curve of a line that is served up to `serving`, where these stand at the door.
    fn at_door(positions: &[u64], expected: u64, serving: u64) -> Vec<(u64, u64)> {
        let door: Vec<_> = positions.iter().copied().zip(0..).collect();
        let at_door = door.len() as u64;
        let input = TickInput { door, at_door, queue_counter: serving, ..TickInput::default() };
        let stay = Plan::stay(&input, &Serving::default());
        let plan = Plan { serving_counter: serving, promised: at_door + expected, ..stay };
        curve(&input, &Serving::default(), &plan)
    }

    #[test]
    fn beyond_the_counter_only_those_still_there_count() {
        let there = everyone((101..=10_100).filter(|number| number % 2 == 0));
        let (queue_counter, serving_counter) = (10_100, 100);
        let input = TickInput { queue_counter, serving_counter, there, ..TickInput::default() };
        let stay = Plan::stay(&input, &Serving::default());
        let curve = curve(&input, &Serving::default(), &Plan { promised: 7, ..stay });
        assert!(curve.len() <= POINTS + 2);
        for (position, truth) in [(101, 7), (121, 17), (1_101, 507), (9_101, 4_507)] {
            let people = ahead(&curve, position);
            assert!(people.abs_diff(truth) <= truth / 20 + 1, "{position}: {people} for {truth}");
        }
    }

    #[test]
    fn nobody_who_is_served_is_ahead_of_itself() {
        let alone = at_door(&[2], 0, 2);
        assert_eq!((ahead(&alone, 2), ahead(&alone, 3)), (0, 1), "the next one waits for it");
        let few = [5, 300, 301, 302, 340];
        let curve = at_door(&few, 0, 350);
        assert_eq!(few.map(|position| ahead(&curve, position)), [0, 1, 2, 3, 4]);
        assert_eq!((ahead(&curve, 350), ahead(&curve, 351)), (5, 5), "350 was not there");
    }

    #[test]
    fn people_who_are_expected_came_last() {
        let curve = at_door(&[4, 9], 3, 20);
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
        fn of_those_at_the_door_each_has_those_before_it_ahead(
            people in prop::collection::btree_set(1..300_u64, 1..60),
            expected in 0..40_u64, further in 0..50_u64,
        ) {
            let positions: Vec<u64> = people.into_iter().collect();
            let serving = 300 + further;
            let curve = at_door(&positions, expected, serving);
            let counts: Vec<_> = (1..=serving + 5).map(|at| ahead(&curve, at)).collect();
            prop_assert!(counts.is_sorted(), "{counts:?}");
            for (position, truth) in positions.iter().zip(0..) {
                prop_assert_eq!(ahead(&curve, *position), truth);
            }
            let all = positions.len() as u64 + expected;
            prop_assert_eq!(ahead(&curve, serving + 1), all);
        }
    }
}
