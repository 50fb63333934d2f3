//! Random: at every moment everyone who waits has the same chance of entering.
//!
//! The leader serves no positions. It raises the room's hazard so that as many of the visitors
//! there win as should be served; each visitor learns at its own check-in whether it has won (see
//! [`crate::accrued_hazard`]). The serving counter stands still, so that the order of arrival is
//! intact when the room returns to fifo. It moves only when everyone fits.

use super::Method;
use crate::{
    accrued_hazard::{self, AccruedHazard},
    check_in::{self, LineConditions},
    plan::{Plan, TickInput},
    wait::Estimate,
};

/// The largest share of the visitors there who may win by one tick. The next ticks correct by what
/// came of it.
const MOST_AT_ONCE: f64 = 0.2;
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

    #[expect(clippy::cast_precision_loss, reason = "counts of people")]
    fn plan(&self, input: &TickInput, standby: u64) -> Plan {
        let stay = Plan::stay(input);
        let Some(wanted) = input.wanted_served(standby) else { return stay };
        let served = input.served_without_seat() as f64 + input.winners_to_come;
        let line = input.checking_in_behind();
        let missing = wanted as f64 - served;
        if missing <= 0.0 {
            stay
        } else if missing >= line && input.is_presence_complete() {
            input.serve_more(input.queue_counter)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{plan::test_support::room, slots::Usage};

    #[test]
    fn as_many_win_as_are_wanted_and_the_counter_stands_still() {
        let plan = Random.plan(&room(100, 90, 1000, 0), 40);
        assert_eq!(plan.serving_counter, 0);
        assert!((plan.winners - 50.0).abs() < 1e-6, "10 seats and 40 who stand by");
        assert_eq!(plan.hazard_increase, accrued_hazard::hazard_increase_for(0.05));
    }

    #[test]
    fn winners_without_a_seat_and_those_still_to_come_count() {
        let input = TickInput { winners: 30, winners_to_come: 15.0, ..room(100, 90, 1000, 0) };
        let plan = Random.plan(&input, 40);
        assert!((plan.winners - 5.0).abs() < 1e-6, "{plan:?}");
        let enough = TickInput { winners_to_come: 20.0, ..input };
        assert_eq!(Random.plan(&enough, 40).hazard_increase, 0);
        assert_eq!(Random.plan(&enough, 40).waiting, 1030);
    }

    #[test]
    fn when_everyone_fits_everyone_is_served() {
        let plan = Random.plan(&room(100, 0, 60, 0), 1);
        assert_eq!((plan.serving_counter, plan.hazard_increase), (60, 0));
    }

    #[test]
    fn never_too_many_at_once() {
        let plan = Random.plan(&room(5_000, 0, 10_000, 0), 1);
        assert!((plan.winners - 2_000.0).abs() < 1e-6, "{plan:?}");
    }

    #[test]
    fn those_who_cannot_check_in_cannot_win() {
        let input = TickInput { unattended: 900, ..room(100, 90, 1000, 0) };
        let plan = Random.plan(&input, 0);
        assert!((plan.winners - 10.0).abs() < 1e-6);
        assert_eq!(
            plan.hazard_increase,
            accrued_hazard::hazard_increase_for(0.1),
            "10 of the 100 who check in"
        );
        let unlimited = TickInput { usage: Usage::default(), ..input };
        assert_eq!(Random.plan(&unlimited, 5).hazard_increase, 0);
    }
}
