//! When a waiting visitor should poll again: rarely far from the front, every second near it,
//! spread by jitter, and in total within the room's budget of polls.

use crate::QueueingMethod;

/// The shortest interval: near the front, ms.
pub const SHORTEST_MS: u32 = 1_000;
/// The longest interval, ms. With longer ones people would think that the page had stopped working.
pub const LONGEST_MS: u32 = 600_000;
/// An early poll counts as a check-in once this share of its interval has passed.
const DUE_SHARE: f64 = 0.8;
/// A visitor polls this many times before its turn is expected,
const CHECKS_BEFORE_TURN: f64 = 10.0;
/// and at least once in this time, ms, because the pace may change. Only the budget may stretch it.
const LATEST_MS: f64 = 20_000.0;
/// The interval while the pace is unknown, ms.
const UNKNOWN_PACE_MS: f64 = 5_000.0;
/// The same for visitors who might be next, ms.
const SHORTEST_UNKNOWN_MS: f64 = 2_000.0;
/// Newcomers of the next seconds are counted in advance, this many seconds of them, because they
/// will poll beside the visitor who is given an interval now.
const NEWCOMERS_SECONDS: f64 = 15.0;
/// The longest interval, as a share of the expected wait, however scarce polls are.
const SHARE_OF_WAIT: f64 = 0.6;
/// Intervals vary by this share up and down, so that a crowd that came at once spreads out.
const JITTER: f64 = 0.15;
/// The share of the budget for visitors far from the front. The rest is kept for those near it,
/// whose interval is not stretched.
const FAR_SHARE_OF_BUDGET: f64 = 0.7;

/// What intervals and waits are computed from, for one visitor.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct LineConditions {
    /// People ahead who are still there.
    pub people_ahead: u64,
    /// Everyone waiting in the room.
    pub waiting: u64,
    /// Of those, who ask when they are told to: their polls share the budget.
    pub polling: u64,
    /// Admissions per second, smoothed; 0 when unknown.
    pub admissions_per_second: f64,
    /// Seconds until the rate limit admits anyone again; 0: it does now.
    pub blocked_seconds: f64,
    /// The share of the waiting who give up per second.
    pub leaving_per_second: f64,
    /// The fastest pace that is to be expected, or, while the pace is unknown, that is possible; 0: none is known.
    pub fastest_per_second: f64,
    /// Recent newcomers per second who poll.
    pub newcomers_per_second: f64,
    /// Polls per second that the room may cost in all.
    pub poll_budget: u32,
}

/// The interval until the next check-in, in ms, in a room of this `method`. `spread` is in `0.0..1.0`: see
/// [`spread`].
#[must_use]
pub fn interval_ms(method: QueueingMethod, conditions: &LineConditions, spread: f64) -> u32 {
    let shortest = f64::from(SHORTEST_MS);
    let interval = method.rules().interval_ms(conditions).max(shortest);
    let jittered = interval * (1.0 - JITTER + 2.0 * JITTER * spread);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
    let whole = jittered.clamp(shortest * (1.0 - JITTER), f64::from(LONGEST_MS)) as u32;
    whole
}

/// Where the interval of a visitor lies between the shortest and the longest, in `0.0..1.0`: always at the same
/// place, so that asking early gives no other interval. Multiples of the golden ratio spread those who joined one
/// after the other evenly, however many they are.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "the upper bits make a fraction")]
pub fn spread(number: u64) -> f64 {
    const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
    const PLACES: u32 = 53;
    let part = number.wrapping_mul(GOLDEN) >> (u64::BITS - PLACES);
    part as f64 / (1_u64 << PLACES) as f64
}

/// The interval by the distance from the front, within the budget of polls, ms. Seats that come free all
/// together must not be missed, so it goes by the fastest pace.
#[must_use]
pub fn by_distance_ms(conditions: &LineConditions) -> f64 {
    let budget = budget_ms(conditions);
    if conditions.admissions_per_second <= 0.0 {
        let interval = UNKNOWN_PACE_MS.max(budget);
        return interval.min(soonest_ms(conditions) * SHARE_OF_WAIT).max(SHORTEST_UNKNOWN_MS);
    }
    let fastest = conditions.admissions_per_second.max(conditions.fastest_per_second);
    let soonest = LineConditions { admissions_per_second: fastest, ..*conditions };
    let wait = soonest.wait_seconds().unwrap_or(0.0) * 1000.0;
    (wait / CHECKS_BEFORE_TURN).min(LATEST_MS).max(budget).min(wait * SHARE_OF_WAIT)
}

/// The shortest time until the visitor's turn while the pace is unknown, ms.
#[expect(clippy::cast_precision_loss, reason = "counts of people")]
fn soonest_ms(conditions: &LineConditions) -> f64 {
    let known = conditions.fastest_per_second > 0.0;
    let fastest = if known { conditions.fastest_per_second } else { f64::MIN_POSITIVE };
    conditions.people_ahead as f64 / fastest * 1000.0
}

/// The interval that keeps the polls of everyone who polls within the budget, ms.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "counts of people")]
pub fn budget_ms(conditions: &LineConditions) -> f64 {
    let polls = f64::from(conditions.poll_budget.max(1)) * FAR_SHARE_OF_BUDGET;
    let newcomers = conditions.newcomers_per_second * NEWCOMERS_SECONDS;
    (conditions.polling as f64 + newcomers) / polls * 1000.0
}

/// Whether a poll at `now_ms` counts as a check-in, for a visitor who last checked in at
/// `checked_in_at_ms` and was given `interval_ms`. Polling more often changes nothing.
#[must_use]
pub fn is_due(now_ms: u64, checked_in_at_ms: u64, interval_ms: u32) -> bool {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a positive share")]
    let early = (f64::from(interval_ms) * DUE_SHARE) as u64;
    now_ms >= checked_in_at_ms + early
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conditions(people_ahead: u64, waiting: u64) -> LineConditions {
        LineConditions {
            people_ahead,
            waiting,
            polling: waiting,
            admissions_per_second: 10.0,
            blocked_seconds: 0.0,
            leaving_per_second: 0.0,
            fastest_per_second: 0.0,
            newcomers_per_second: 0.0,
            poll_budget: 2_000,
        }
    }

    fn interval_ms(conditions: &LineConditions, spread: f64) -> u32 {
        super::interval_ms(QueueingMethod::Fifo, conditions, spread)
    }

    #[test]
    fn seats_that_come_free_together_are_not_missed() {
        let bursts = LineConditions { fastest_per_second: 100.0, ..conditions(1_000, 6_000) };
        assert_eq!(interval_ms(&bursts, 0.5), 4_285, "it may be 10 s; polls are scarce");
        let slower = LineConditions { fastest_per_second: 1.0, ..bursts };
        assert_eq!(interval_ms(&slower, 0.5), 10_000, "a wait of 100 s");
    }

    #[test]
    fn every_second_near_the_front_and_seldom_far_away() {
        assert_eq!(interval_ms(&conditions(5, 100_000), 0.5), SHORTEST_MS);
        assert_eq!(interval_ms(&conditions(1_000, 6_000), 0.5), 10_000, "a wait of 100 s");
        assert_eq!(interval_ms(&conditions(6_000, 6_000), 0.5), 20_000, "a wait of 600 s");
        assert_eq!(interval_ms(&conditions(10_000_000, 10_000_000), 0.5), LONGEST_MS);
    }

    #[test]
    fn jitter_spreads_and_stays_in_bounds() {
        let (low, high) =
            (interval_ms(&conditions(1_000, 0), 0.0), interval_ms(&conditions(1_000, 0), 1.0));
        assert_eq!((low, high), (8_500, 11_500));
        assert!(interval_ms(&conditions(0, 0), 0.0) >= 850);
    }

    #[test]
    fn those_who_join_one_after_the_other_are_spread_evenly() {
        for first in [1, 1_000, 9_007_199_254_740_000] {
            let mut places: Vec<_> = (first..first + 100).map(spread).collect();
            places.sort_by(f64::total_cmp);
            let gaps = places.windows(2).map(|pair| pair[1] - pair[0]);
            assert!(gaps.fold(0.0, f64::max) < 0.03, "{places:?}");
            assert!(places[0] >= 0.0 && places[99] < 1.0);
        }
    }

    #[test]
    fn a_line_of_a_hundred_thousand_stays_within_its_budget() {
        let slow: f64 = (0..100_000)
            .map(|ahead| 1_000.0 / f64::from(interval_ms(&conditions(ahead, 100_000), 0.5)))
            .sum();
        assert!(slow <= 2_000.0, "{slow}");
    }

    #[test]
    fn nobody_is_told_to_come_back_after_its_turn() {
        let fast =
            LineConditions { admissions_per_second: 1_000.0, ..conditions(10_000, 1_000_000) };
        assert!(interval_ms(&fast, 1.0) < 7_000, "a wait of 10 s, though polls are scarce");
        let unknown = LineConditions { admissions_per_second: 0.0, ..conditions(3_000, 3_000) };
        assert_eq!(interval_ms(&unknown, 0.5), 5_000);
        let first = LineConditions { people_ahead: 3, fastest_per_second: 10.0, ..unknown };
        assert_eq!(interval_ms(&first, 0.5), 2_000, "a seat may come free any moment");
        let crowd = LineConditions { waiting: 70_000, polling: 70_000, ..unknown };
        let far = LineConditions { people_ahead: 60_000, fastest_per_second: 500.0, ..crowd };
        assert_eq!(interval_ms(&far, 0.5), 50_000, "two minutes away at the soonest");
    }

    #[test]
    fn a_crowd_that_pours_in_is_spread_over_the_time_when_it_is_there() {
        let growing = |people: u64| LineConditions {
            admissions_per_second: 0.0,
            newcomers_per_second: 3_500.0,
            ..conditions(people, people)
        };
        // A visitor who joins in second t is given T(t). This counts who comes back in each second
        // if all are on time.
        let mut due = [0_u32; 200];
        for second in 0..30 {
            let interval = interval_ms(&growing(second * 3_500), 0.5) / 1000;
            due[usize::try_from(second).unwrap() + interval as usize] += 3_500;
        }
        let busiest = due.windows(5).map(|five| five.iter().sum::<u32>() / 5).max();
        assert!(busiest.unwrap() < 1_500, "{busiest:?}");
    }

    #[test]
    fn in_a_random_room_everyone_comes_back_alike() {
        let random = |ahead, waiting| {
            super::interval_ms(QueueingMethod::Random, &conditions(ahead, waiting), 0.5)
        };
        assert_eq!(random(0, 8_000), random(8_000, 8_000));
        assert_eq!(random(0, 7_000), 5_000, "7,000 people at 1,400 polls a second");
        assert_eq!(random(0, 10), 2_000);
    }

    #[test]
    fn an_early_poll_is_no_check_in() {
        assert!(!is_due(10_500, 10_000, 1_000));
        assert!(is_due(10_800, 10_000, 1_000));
        assert!(is_due(99_000, 10_000, 1_000));
    }
}
