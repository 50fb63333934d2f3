//! The leader's memory of a room between two ticks, and the decision of a tick.

use std::{collections::VecDeque, time::Duration};

use crate::{
    RoomSettings, TickFigures, ahead, check_in,
    plan::{Plan, TickInput, plan},
    presence::LINGER_MS,
    regions::{Grants, Shares},
    wait::{Attrition, Line, Pace},
};

/// A leader's memory of one room.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TickState {
    pace: Pace,
    attrition: Attrition,
    winners: WinnersToCome,
    silence: Silence,
    shares: Shares,
}

/// The decision of a tick.
#[derive(Debug, Clone, PartialEq)]
pub struct TickDecision {
    /// How the line moves.
    pub plan: Plan,
    /// The figures for the snapshot.
    pub figures: TickFigures,
    /// The slots for newcomers, by region.
    pub grants: Grants,
}

/// Detects that a whole crowd stops checking in at once. Such a crowd has not left: the services or
/// the network could not be reached.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Silence {
    /// How many were there before.
    crowd: u64,
    /// Until when they have time to return, ms.
    until_ms: u64,
}

/// Fewer people than this may have left together.
const CROWD: u64 = 200;
/// The number of late visitors that may be served for each visitor who should be served.
const LATE_PER_WANTED: f64 = 4.0;

/// Winners of earlier ticks who learn of it at their next check-in: (time of the tick in ms, number
/// of winners).
#[derive(Debug, Clone, Default, PartialEq)]
struct WinnersToCome(VecDeque<(u64, f64)>);

// === impl TickState ===

impl TickState {
    /// Sets the shares by which slots for newcomers are divided from now on.
    pub fn divide_by(&mut self, shares: Shares) {
        self.shares = shares;
    }

    /// Decides the tick of the room read as `input`.
    pub fn decide(&mut self, input: &TickInput, settings: &RoomSettings) -> TickDecision {
        let mut input = input.clone();
        self.pace.observe(input.now_ms, input.admitted, input.usage.active);
        self.attrition.observe(line(&input));
        let interval_ms = self.interval_ms(&input, settings);
        input.winners_to_come = self.winners.expected(input.now_ms, interval_ms);
        self.silence.observe(&mut input);
        let standby = self.pace.standby(&input.usage);
        input.most_served = Some(self.most_served(&input, standby));
        let plan = plan(&input, standby);
        self.winners.add(input.now_ms, plan.winners);
        let figures = self.figures(&input, &plan);
        let slots = if input.held { 0 } else { input.usage.slots().unwrap_or(0) };
        TickDecision { plan, figures, grants: self.shares.divide(slots) }
    }

    /// How many visitors, hidden tabs included, may be served without a seat: [`LATE_PER_WANTED`]
    /// for each one who should be served, and for each one who enters while a hidden tab may sleep.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "counts of people"
    )]
    fn most_served(&self, input: &TickInput, standby: u64) -> u64 {
        let wanted = input.wanted_served(standby).unwrap_or(0) as f64;
        let asleep = self.pace.expected(&input.usage).max(self.pace.per_second())
            * Duration::from_millis(LINGER_MS).as_secs_f64();
        (LATE_PER_WANTED * (wanted + asleep)).ceil() as u64
    }

    /// The approximate interval at which waiting visitors check in, ms.
    fn interval_ms(&self, input: &TickInput, settings: &RoomSettings) -> u32 {
        let waiting = input.waiting();
        let conditions = check_in::LineConditions {
            people_ahead: waiting,
            waiting,
            admissions_per_second: self.pace.expected(&input.usage),
            blocked_seconds: 0.0,
            leaving_per_second: 0.0,
            fastest_per_second: 0.0,
            newcomers_per_second: self.attrition.newcomers_per_second(),
            poll_budget: settings.poll_budget_per_second,
        };
        check_in::interval_ms(input.method, &conditions, 0.5)
    }

    fn figures(&self, input: &TickInput, plan: &Plan) -> TickFigures {
        let expected = if input.held { 0.0 } else { self.pace.expected(&input.usage) };
        // While nobody waits, or the room is held, operators are shown the measured pace.
        let measured = plan.waiting == 0 || input.held;
        TickFigures {
            waiting: plan.waiting,
            admissions_per_second: if measured { self.pace.per_second() } else { expected },
            expected_per_second: Some(expected),
            leaving_per_second: self.attrition.per_second(),
            newcomers_per_second: self.attrition.newcomers_per_second(),
            unattended: input.unattended,
            ahead: ahead::curve(input, plan.promised, plan.serving_counter),
            rate_resumes_at_ms: input.rate_resumes_at_ms,
            admitted: Some(input.admitted),
        }
    }
}

/// The line, if everyone in it can be counted.
fn line(input: &TickInput) -> Option<Line> {
    let (now_ms, queue_counter) = (input.now_ms, input.queue_counter);
    let (waiting, admitted) = (input.waiting(), input.admitted);
    input.is_presence_complete().then_some(Line { now_ms, waiting, queue_counter, admitted })
}

// === impl Silence ===

impl Silence {
    /// Sets in `input` whether a whole crowd is silent, and until when presence is incomplete
    /// because of it.
    fn observe(&mut self, input: &mut TickInput) {
        let from = input.expired_position;
        let attending = input.attending.between(from, input.queue_counter);
        input.silent = attending < 0.5 && input.winners == 0 && self.crowd >= CROWD;
        if input.silent {
            self.until_ms = input.now_ms + LINGER_MS;
        } else if input.now_ms >= self.until_ms {
            self.crowd = input.waiting();
        }
        let until_ms = input.presence_incomplete_until_ms.max(self.until_ms);
        input.presence_incomplete_until_ms = until_ms;
    }
}

// === impl WinnersToCome ===

impl WinnersToCome {
    /// The expected number of winners who have not learned of it yet, if check-ins are spread
    /// evenly over an interval.
    fn expected(&mut self, now_ms: u64, interval_ms: u32) -> f64 {
        let interval = f64::from(interval_ms.max(1));
        let to_come = |then: u64| {
            #[expect(clippy::cast_precision_loss, reason = "minutes at most")]
            let age = now_ms.saturating_sub(then) as f64;
            (1.0 - age / interval).max(0.0)
        };
        while self.0.front().is_some_and(|(then, _)| to_come(*then) <= 0.0) {
            self.0.pop_front();
        }
        self.0.iter().map(|(then, winners)| winners * to_come(*then)).sum()
    }

    fn add(&mut self, now_ms: u64, winners: f64) {
        if winners > 0.0 {
            self.0.push_back((now_ms, winners));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        QueueingMethod,
        plan::test_support::{everyone, room},
        presence::Presence,
        slots::Usage,
        snapshot::{RoomSnapshot, test_support::snapshot},
    };

    #[test]
    fn winners_learn_of_it_over_an_interval() {
        let mut winners = WinnersToCome::default();
        winners.add(1_000, 100.0);
        assert!((winners.expected(1_000, 4_000) - 100.0).abs() < 1e-9);
        assert!((winners.expected(2_000, 4_000) - 75.0).abs() < 1e-9);
        assert!((winners.expected(5_000, 4_000) - 0.0).abs() < 1e-9);
        assert_eq!(winners, WinnersToCome::default(), "nothing is kept for ever");
    }

    #[test]
    fn in_a_random_room_nobody_wins_twice_for_one_seat() {
        let mut state = TickState::default();
        let input = |now_ms| crate::plan::TickInput {
            now_ms,
            method: QueueingMethod::Random,
            ..room(100, 90, 1_000, 0)
        };
        let settings = RoomSettings::default();
        let first = state.decide(&input(1_000_000), &settings).plan;
        assert!((first.winners - 11.0).abs() < 1e-6, "10 seats and one who stands by");
        let next = state.decide(&input(1_000_250), &settings).plan;
        assert!(next.winners < 2.0, "the others are on their way: {next:?}");
    }

    #[test]
    fn a_crowd_that_falls_silent_at_once_keeps_its_order() {
        let mut state = TickState::default();
        let settings = RoomSettings::default();
        let at = |now_ms| TickInput { now_ms, ..room(10, 10, 1_000, 20) };
        let silent = |now_ms| TickInput { attending: Presence::default(), ..at(now_ms) };
        let empty = |now_ms| TickInput { there: Presence::default(), ..silent(now_ms) };
        state.decide(&at(1_000_000), &settings);
        for input in [silent(1_000_250), empty(1_090_000)] {
            let plan = state.decide(&input, &settings).plan;
            assert_eq!(plan.serving_counter, 20, "nobody could take a seat");
        }
        let first_back =
            TickInput { attending: everyone([700]), there: everyone([700]), ..at(1_090_250) };
        let plan = state.decide(&first_back, &settings).plan;
        assert!(plan.serving_counter < 30, "the others are on their way: {plan:?}");
        let later = TickInput { now_ms: 1_153_000, ..first_back };
        let plan = state.decide(&later, &settings).plan;
        assert_eq!(plan.serving_counter, 700, "they are not: the one who is there is next");
    }

    #[test]
    fn a_few_people_may_leave_together() {
        let mut state = TickState::default();
        let few = |now_ms| TickInput { now_ms, ..room(10, 10, 120, 20) };
        state.decide(&few(1_000_000), &RoomSettings::default());
        let gone = TickInput {
            attending: Presence::default(),
            there: Presence::default(),
            ..few(1_070_000)
        };
        let plan = state.decide(&gone, &RoomSettings::default()).plan;
        assert_eq!(plan.serving_counter, 120);
    }

    #[test]
    fn the_pace_told_is_what_the_rate_lets_in() {
        let mut state = TickState::default();
        let mut input = room(100, 50, 1_000, 50);
        input.usage.rate = Some(120);
        let figures = state.decide(&input, &RoomSettings::default()).figures;
        assert!((figures.admissions_per_second - 2.0).abs() < 1e-9);
        assert_eq!(figures.waiting, 950);
    }

    /// What the first newcomer is told, and the pace shown to operators, in a room with this
    /// `usage` where nobody waits: one visitor has just entered, and `ended` sessions have ended.
    fn first_newcomer(usage: Usage, ended: u64) -> (Option<f64>, f64) {
        let mut state = TickState::default();
        let entered =
            |admitted, now_ms| TickInput { now_ms, usage, admitted, ..room(0, 0, 10, 10) };
        let before = usage.active + ended - 1;
        for (tick, admitted) in [(0, usage.active), (1, before), (2, before + 1)] {
            state.decide(&entered(admitted, 1_000_000 + tick * 10_000), &RoomSettings::default());
        }
        let last = entered(before + 1, 1_020_250);
        let figures = state.decide(&last, &RoomSettings::default()).figures;
        let pace = figures.admissions_per_second;
        let room = RoomSnapshot { figures, ..snapshot(11, 10) };
        (room.outlook(11, 1_020_250, room.progress()).wait.seconds, pace)
    }

    #[test]
    fn while_nobody_knows_how_often_seats_come_free_the_first_newcomer_is_told_no_wait() {
        let full = Usage { ceiling: Some(10), active: 10, ..Usage::default() };
        let (wait, pace) = first_newcomer(full, 1);
        assert_eq!(wait, None, "how fast people entered says nothing");
        assert!(pace > 0.0, "operators are told how fast they entered");
        let rated = Usage { rate: Some(60), ..full };
        assert_eq!(first_newcomer(rated, 1).0, None, "it is the ceiling that holds people back");
    }

    #[test]
    fn where_the_pace_is_known_the_first_newcomer_is_told_its_wait() {
        let full = Usage { ceiling: Some(10), active: 10, ..Usage::default() };
        assert_eq!(first_newcomer(full, 6).0, Some(0.0), "a few sessions have ended");
        let rated = Usage { rate: Some(60), active: 10, ..Usage::default() };
        assert_eq!(first_newcomer(rated, 1).0, Some(0.0));
        let roomy = Usage { ceiling: Some(11), ..rated };
        assert_eq!(first_newcomer(roomy, 1).0, Some(0.0), "it is the rate that holds people back");
        assert_eq!(first_newcomer(Usage::default(), 1).0, Some(0.0), "an operator lets people in");
    }

    #[test]
    fn a_crowd_that_comes_at_once_is_told_the_pace_of_the_rate() {
        let mut state = TickState::default();
        let mut quiet = TickInput { admitted: 10, ..room(0, 0, 10, 10) };
        quiet.usage = Usage { rate: Some(120), ..Usage::default() };
        state.decide(&quiet, &RoomSettings::default());
        let later = TickInput { now_ms: 1_010_000, admitted: 11, ..quiet };
        let figures = state.decide(&later, &RoomSettings::default()).figures;
        let room = RoomSnapshot { figures, ..snapshot(111, 10) };
        assert_eq!(
            room.outlook(111, 1_010_000, room.progress()).wait.seconds,
            Some(50.0),
            "100 ahead, 2 a second"
        );
    }
}
