//! First in, first out: people are served in the order of their positions, so far that as many of them come
//! as there are slots, and a small standby group besides.

use super::Method;
use crate::{
    check_in::LineConditions,
    following,
    plan::{Plan, TickInput},
    serving::Serving,
    wait::{Estimate, Standby},
};

#[derive(Debug)]
pub(super) struct Fifo;

impl Method for Fifo {
    fn name(&self) -> &'static str {
        "fifo"
    }

    fn plan(&self, input: &TickInput, standby: Standby, serving: &mut Serving) -> Plan {
        if let Some(followed) = input.follows {
            return following::plan(input, followed, serving);
        }
        match input.wanted_at_door(standby.people()) {
            Some(wanted) => input.serve(wanted - input.at_or_near_door(serving), serving),
            None => Plan::stay(input, serving),
        }
    }

    fn estimate(&self, conditions: &LineConditions) -> Estimate {
        conditions.wait_seconds().map_or(Estimate::UNKNOWN, Estimate::from_seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        plan::test_support::{everyone, room, standby},
        slots::Usage,
    };

    fn plan(input: &TickInput, by: f64) -> Plan {
        Fifo.plan(input, standby(by), &mut Serving::default())
    }

    #[test]
    fn fills_free_seats_and_the_standby_group() {
        let input = room(100, 90, 1000, 90);
        assert_eq!(plan(&input, 0.0).serving_counter, 101, "10 seats and at least one standby");
        assert_eq!(plan(&input, 20.0).serving_counter, 120, "10 seats and 4 s of 5 a second");
    }

    #[test]
    fn those_at_the_door_count() {
        let input = TickInput { at_door: 6, ..room(100, 100, 1000, 90) };
        let plan = plan(&input, 8.0);
        assert_eq!((plan.serving_counter, plan.promised), (92, 8), "6 are there, 8 are wanted");
    }

    #[test]
    fn skips_those_who_closed_the_tab() {
        let there = everyone((91..=1000).filter(|number| number % 2 == 0));
        let input = TickInput { there, ..room(100, 91, 1000, 90) };
        let plan = plan(&input, 1.0);
        assert_eq!(plan.serving_counter, 110, "10 of every 20 are there");
        assert_eq!((plan.promised, plan.waiting), (10, 455));
    }

    #[test]
    fn whom_nobody_knows_of_is_served_too() {
        let unknown = everyone((91..=1000).filter(|number| number % 2 == 1));
        let there = everyone((91..=1000).filter(|number| number % 2 == 0));
        let input = TickInput { there, unknown, ..room(100, 91, 1000, 90) };
        assert_eq!(plan(&input, 1.0).serving_counter, 100, "all of them may come");
    }

    #[test]
    fn never_goes_back_and_never_passes_the_line() {
        assert_eq!(plan(&room(100, 100, 1000, 500), 1.0).serving_counter, 501);
        let ahead = room(100, 0, 10, 50);
        assert_eq!(plan(&ahead, 36.0).serving_counter, 50, "an operator ran ahead of the line");
        assert_eq!(plan(&room(1000, 0, 20, 3), 36.0).serving_counter, 20);
    }

    #[test]
    fn without_limits_only_the_operator_lets_people_in() {
        let unlimited = TickInput { usage: Usage::default(), ..room(0, 0, 50, 7) };
        assert_eq!(plan(&unlimited, 36.0).serving_counter, 7);
        assert_eq!(plan(&room(0, 0, 50, 7), 36.0).serving_counter, 7, "a ceiling of nobody");
    }
}
