//! First in, first out: the serving counter passes over as many people *who are still there* as
//! there are slots, and a small standby group, in the order of their positions.

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

    fn plan(&self, survey: &TickInput, standby: u64) -> Plan {
        let door = survey.at_door();
        match survey.wanted_at_door(standby) {
            Some(wanted) if wanted > door => survey.serve_more(wanted - door),
            _ => Plan::stay(survey),
        }
    }

    fn estimate(&self, standing: &LineConditions) -> Estimate {
        standing.wait_seconds().map_or(Estimate::UNKNOWN, Estimate::from_seconds)
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

    fn plan(survey: &TickInput, standby: u64) -> Plan {
        Fifo.plan(survey, standby)
    }

    #[test]
    fn fills_free_seats_and_the_standby_group() {
        let survey = room(100, 90, 1000, 90);
        assert_eq!(plan(&survey, 1).serving_counter, 101, "10 seats and at least one standby");
        assert_eq!(plan(&survey, 20).serving_counter, 120, "10 seats and 4 s of 5 a second");
    }

    #[test]
    fn people_already_at_the_door_count() {
        let survey = TickInput { attending: everyone(85..=1000), ..room(100, 100, 1000, 90) };
        let plan = plan(&survey, 8);
        assert_eq!((plan.serving_counter, plan.promised), (92, 8), "6 stand there, 8 are wanted");
    }

    #[test]
    fn skips_those_who_closed_the_tab() {
        let there = || everyone((91..=1000).filter(|number| number % 2 == 0));
        let survey = TickInput { attending: there(), there: there(), ..room(100, 91, 1000, 90) };
        let plan = plan(&survey, 1);
        assert_eq!(plan.serving_counter, 110, "10 of every 20 are there");
        assert_eq!((plan.promised, plan.waiting), (10, 455));
    }

    #[test]
    fn a_hidden_tab_is_served_and_does_not_fill_the_door() {
        let attending = everyone((91..=1000).filter(|number| *number != 91));
        let survey = TickInput { attending, ..room(100, 99, 1000, 90) };
        let plan = plan(&survey, 0);
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
    fn fresh_promises_outweigh_presence_that_is_still_on_its_way() {
        let survey = TickInput {
            promised: 10,
            promised_at_ms: 999_500,
            attending: Presence::default(),
            ..room(10, 0, 30, 10)
        };
        assert_eq!(plan(&survey, 1).promised, 10);
        let later = TickInput { promised_at_ms: 990_000, ..survey };
        assert_eq!(plan(&later, 1).promised, 0);
    }

    #[test]
    fn a_restored_room_takes_everyone_as_there() {
        let survey = TickInput {
            attending: Presence::default(),
            there: Presence::default(),
            presence_incomplete_until_ms: 2_000_000,
            ..room(100, 90, 1000, 90)
        };
        assert_eq!(plan(&survey, 1).serving_counter, 101);
    }
}
