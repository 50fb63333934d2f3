//! Random: at every moment everyone who waits has the same chance of entering.
//!
//! The leader serves no positions. It raises the room's hazard so that as many of the visitors
//! there win as should be served; each visitor learns at its own check-in whether it has won (see
//! [`crate::accrued_hazard`]). The serving counter stands still, so that the order of arrival is
//! intact when the room returns to fifo. It moves only when everyone who can win
//! fits: past as many of the others, who cannot check in, as there are seats left.

use super::Method;
use crate::{
    accrued_hazard::{self, AccruedHazard},
    check_in::{self, LineConditions},
    following,
    plan::{Plan, TickInput},
    serving::Serving,
    wait::{Estimate, Standby},
};

/// The largest share of the visitors there who may win by one tick. The next ticks correct by what
/// came of it.
const MOST_AT_ONCE: f64 = 0.2;
/// Of so many who wait, one may win ahead of time, to stand by.
const WAITING_PER_STANDBY: f64 = 20.0;
/// The shortest interval between two chances, ms.
const SHORTEST_MS: f64 = 2_000.0;

#[derive(Debug)]
pub(super) struct Random;

impl Method for Random {
    fn name(&self) -> &'static str {
        "random"
    }

    fn is_ordered(&self) -> bool {
        false
    }

    fn has_won(&self, accrued_hazard: AccruedHazard, win_threshold: f64) -> bool {
        accrued_hazard.wins(win_threshold)
    }

    fn plan(&self, input: &TickInput, standby: Standby, serving: &mut Serving) -> Plan {
        let stay = Plan::stay(input, serving);
        let line = input.who_can_win();
        let Some(wanted) = input.wanted_at_door(standing_by(standby, line)) else { return stay };
        let missing = wanted - input.at_or_near_door(serving) - input.winners_to_come;
        if missing <= 0.0 {
            stay
        } else if missing >= line && input.is_presence_complete {
            match input.follows {
                Some(followed) => following::plan(input, followed, serving),
                None if missing >= line + others(input, serving) => input.serve_everyone(serving),
                // All who can win have a seat, and of the others the first have those that are left.
                None => Plan {
                    hazard_increase: accrued_hazard::hazard_increase_for(MOST_AT_ONCE),
                    winners: MOST_AT_ONCE * line,
                    ..input.serve(missing - line, serving)
                },
            }
        } else {
            let part = (missing / line.max(1.0)).min(MOST_AT_ONCE);
            Plan {
                hazard_increase: accrued_hazard::hazard_increase_for(part),
                winners: part * line,
                ..stay
            }
        }
    }

    /// The same for everyone, so that nobody learns earlier than others whether it has won.
    fn interval_ms(&self, conditions: &LineConditions) -> f64 {
        check_in::budget_ms(conditions).max(SHORTEST_MS)
    }

    fn estimate(&self, conditions: &LineConditions) -> Estimate {
        conditions.quartiles().map_or(Estimate::UNKNOWN, Estimate::spread)
    }
}

/// How many others may come once they are served: AWS-style visitors, who cannot win.
fn others(input: &TickInput, serving: &Serving) -> f64 {
    let line = input.line();
    let unknown = line.unknown.between(line.from, line.end) * serving.unknown.share();
    input.unattended_there + unknown
}

/// How many win before there is a seat for them, of a `line` of so many. Whoever comes between their win
/// and their seat has no chance of it, so they are few: as many as get one soon, or may when people leave
/// together, and nobody in a short line.
fn standing_by(standby: Standby, line: f64) -> f64 {
    let people = standby.steady.max(standby.burst);
    people.floor().min((line / WAITING_PER_STANDBY).floor())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        plan::test_support::{room, standby},
        presence::Presence,
        slots::Usage,
    };

    fn plan(input: &TickInput, by: f64) -> Plan {
        let input = TickInput { method: crate::QueueingMethod::Random, ..input.clone() };
        Random.plan(&input, standby(by), &mut Serving::default())
    }

    #[test]
    fn as_many_win_as_are_wanted_and_the_counter_stands_still() {
        let plan = plan(&room(100, 90, 1000, 0), 40.0);
        assert_eq!(plan.serving_counter, 0);
        assert!((plan.winners - 50.0).abs() < 1e-6, "10 seats and 40 who stand by");
        assert_eq!(plan.hazard_increase, accrued_hazard::hazard_increase_for(0.05));
    }

    #[test]
    fn those_who_cannot_win_have_the_seats_that_are_left_and_no_more() {
        let crowd = |first, last, count| crate::presence::Crowd { first, last, count };
        let input = TickInput {
            there: Presence::new(&[crowd(5_001, 5_001, 1.0)]),
            unknown: Presence::new(&[crowd(1, 5_000, 5_000.0)]),
            ..room(100, 97, 5_001, 0)
        };
        let few = plan(&input, 0.0);
        assert_eq!(few.serving_counter, 2, "of three seats one is of whoever can win");
        assert!(few.winners > 0.1, "{few:?}");
        let all = plan(&TickInput { usage: Usage::default(), ..input.clone() }, 0.0);
        assert_eq!(all.serving_counter, 0, "a room without limits goes by its operator");
        let open = Usage { ceiling: Some(6_000), ..Usage::default() };
        assert_eq!(plan(&TickInput { usage: open, ..input }, 0.0).serving_counter, 5_001);
    }

    #[test]
    fn in_a_short_line_nobody_wins_ahead_of_time() {
        assert_eq!(plan(&room(100, 100, 19, 0), 40.0).hazard_increase, 0);
        assert!((plan(&room(100, 100, 60, 0), 40.0).winners - 3.0).abs() < 1e-6);
        assert_eq!(plan(&room(100, 100, 1000, 0), 0.9).hazard_increase, 0, "seldom a seat");
    }

    #[test]
    fn where_people_leave_together_one_of_twenty_wins_ahead_of_time() {
        let bursts = Standby { steady: 4.0, burst: 1_000.0 };
        let input = TickInput { method: crate::QueueingMethod::Random, ..room(100, 100, 1000, 0) };
        let plan = Random.plan(&input, bursts, &mut Serving::default());
        assert!((plan.winners - 50.0).abs() < 1e-6, "{plan:?}");
    }

    #[test]
    fn winners_without_a_seat_and_those_still_to_come_count() {
        let input = TickInput { at_door: 30, winners_to_come: 15.0, ..room(100, 90, 1030, 0) };
        let decided = plan(&input, 40.0);
        assert!((decided.winners - 5.0).abs() < 1e-6, "{decided:?}");
        let enough = TickInput { winners_to_come: 20.0, ..input };
        assert_eq!(plan(&enough, 40.0).hazard_increase, 0);
        assert_eq!(plan(&enough, 40.0).waiting, 1030);
    }

    #[test]
    fn when_everyone_fits_everyone_is_served() {
        let plan = plan(&room(100, 0, 60, 0), 1.0);
        assert_eq!((plan.serving_counter, plan.hazard_increase), (60, 0));
    }

    #[test]
    fn never_too_many_at_once() {
        let plan = plan(&room(5_000, 0, 10_000, 0), 0.0);
        assert!((plan.winners - 2_000.0).abs() < 1e-6, "{plan:?}");
    }

    #[test]
    fn those_who_cannot_check_in_cannot_win() {
        let input = TickInput { unattended_there: 900.0, ..room(100, 90, 1000, 0) };
        let decided = plan(&input, 0.0);
        assert!((decided.winners - 10.0).abs() < 1e-6);
        let of_those_who_can = accrued_hazard::hazard_increase_for(0.1);
        assert_eq!(decided.hazard_increase, of_those_who_can, "10 of the 100 who check in");
        let unlimited = TickInput { usage: Usage::default(), ..input };
        assert_eq!(plan(&unlimited, 5.0).hazard_increase, 0);
    }
}
