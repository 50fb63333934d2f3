//! First in, first out: in the order of their positions, as many people *who are still there* are
//! served as there are slots, and a small standby group besides.

use super::Method;
use crate::{
    check_in::LineConditions,
    plan::{Plan, TickInput},
    wait::Estimate,
};

#[derive(Debug)]
pub(super) struct Fifo;

impl Method for Fifo {
    fn name(&self) -> &'static str {
        "fifo"
    }

    fn plan(&self, input: &TickInput, standby: u64) -> Plan {
        let served = input.served_without_seat();
        match input.wanted_served(standby) {
            Some(wanted) if wanted > served => input.serve_more(wanted - served),
            _ => Plan::stay(input),
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
        plan::test_support::{everyone, room},
        presence::Presence,
        slots::Usage,
    };

    fn plan(input: &TickInput, standby: u64) -> Plan {
        Fifo.plan(input, standby)
    }

    #[test]
    fn fills_free_seats_and_the_standby_group() {
        let input = room(100, 90, 1000, 90);
        assert_eq!(plan(&input, 1).serving_counter, 101, "10 seats and at least one standby");
        assert_eq!(plan(&input, 20).serving_counter, 120, "10 seats and 4 s of 5 a second");
    }

    #[test]
    fn people_already_served_count() {
        let input = TickInput { attending: everyone(85..=1000), ..room(100, 100, 1000, 90) };
        let plan = plan(&input, 8);
        assert_eq!((plan.serving_counter, plan.promised), (92, 8), "6 are served, 8 are wanted");
    }

    #[test]
    fn skips_those_who_closed_the_tab() {
        let there = || everyone((91..=1000).filter(|number| number % 2 == 0));
        let input = TickInput { attending: there(), there: there(), ..room(100, 91, 1000, 90) };
        let plan = plan(&input, 1);
        assert_eq!(plan.serving_counter, 110, "10 of every 20 are there");
        assert_eq!((plan.promised, plan.waiting), (10, 455));
    }

    #[test]
    fn a_hidden_tab_is_served_and_does_not_take_the_place_of_another() {
        let attending = everyone((91..=1000).filter(|number| *number != 91));
        let input = TickInput { attending, ..room(100, 99, 1000, 90) };
        let plan = plan(&input, 0);
        assert_eq!(plan.serving_counter, 92, "91 sleeps, and 92 takes the seat");
        assert_eq!(plan.waiting, 910, "and 91 is still there");
    }

    #[test]
    fn never_goes_back_and_never_passes_the_line() {
        assert_eq!(plan(&room(100, 100, 1000, 500), 1).serving_counter, 501);
        let ahead = room(100, 0, 10, 50);
        assert_eq!(plan(&ahead, 36).serving_counter, 50, "an operator ran ahead of the line");
        assert_eq!(plan(&room(1000, 0, 20, 3), 36).serving_counter, 20);
    }

    #[test]
    fn without_limits_only_the_operator_lets_people_in() {
        let unlimited = TickInput { usage: Usage::default(), ..room(0, 0, 50, 7) };
        assert_eq!(plan(&unlimited, 36).serving_counter, 7);
        assert_eq!(plan(&room(0, 0, 50, 7), 36).serving_counter, 7, "a ceiling of nobody");
    }

    #[test]
    fn fresh_promises_outweigh_presence_that_is_not_counted_yet() {
        let input = TickInput {
            promised: 10,
            promised_at_ms: 999_500,
            attending: Presence::default(),
            ..room(10, 0, 30, 10)
        };
        assert_eq!(plan(&input, 1).promised, 10);
        let later = TickInput { promised_at_ms: 990_000, ..input };
        assert_eq!(plan(&later, 1).promised, 0);
    }

    #[test]
    fn a_restored_room_takes_everyone_as_there() {
        let input = TickInput {
            attending: Presence::default(),
            there: Presence::default(),
            presence_incomplete_until_ms: 2_000_000,
            ..room(100, 90, 1000, 90)
        };
        assert_eq!(plan(&input, 1).serving_counter, 101);
    }
}
