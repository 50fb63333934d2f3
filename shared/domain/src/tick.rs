//! What the leader remembers of a room from one tick to the next, and what it decides by it.

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

/// What a tick decides.
#[derive(Debug, Clone, PartialEq)]
pub struct TickDecision {
    /// Where the line moves.
    pub plan: Plan,
    /// What everyone is told.
    pub figures: TickFigures,
    /// The slots for newcomers, by region.
    pub grants: Grants,
}

/// A crowd that all at once does not check in any more. It has not gone home: the services, or the
/// network, could not be reached.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Silence {
    /// How many were there before.
    crowd: u64,
    /// Until when they are given time to come back, ms.
    until_ms: u64,
}

/// Fewer people than this may well have left together.
const CROWD: u64 = 200;
/// For every visitor who is wanted at the door, so many may be served who are late.
const LATE_PER_WANTED: f64 = 4.0;

/// Those whom a tick let win and who learn of it at their next check-in.
#[derive(Debug, Clone, Default, PartialEq)]
struct WinnersToCome(VecDeque<(u64, f64)>);

// === impl TickState ===

impl TickState {
    /// From now on slots for newcomers are divided like this.
    pub fn divide_by(&mut self, shares: Shares) {
        self.shares = shares;
    }

    /// Decides the tick of a room as `survey` saw it.
    pub fn decide(&mut self, survey: &TickInput, settings: &RoomSettings) -> TickDecision {
        let mut survey = survey.clone();
        self.pace.observe(survey.now_ms, survey.admitted, survey.usage.active);
        self.attrition.observe(line(&survey));
        let interval_ms = self.interval_ms(&survey, settings);
        survey.winners_to_come = self.winners.expected(survey.now_ms, interval_ms);
        self.silence.observe(&mut survey);
        let standby = self.pace.standby(&survey.usage);
        survey.most_served = Some(self.most_served(&survey, standby));
        let plan = plan(&survey, standby);
        self.winners.add(survey.now_ms, plan.winners);
        let figures = self.figures(&survey, &plan);
        let slots = if survey.held { 0 } else { survey.usage.slots().unwrap_or(0) };
        TickDecision { plan, figures, grants: self.shares.divide(slots) }
    }

    /// How many may be served without a seat, hidden tabs included: some for each who is wanted, and
    /// for each who enters in the minute that a hidden tab may sleep.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "counts of people"
    )]
    fn most_served(&self, survey: &TickInput, standby: u64) -> u64 {
        let wanted = survey.wanted_at_door(standby).unwrap_or(0) as f64;
        let asleep = self.pace.expected(&survey.usage).max(self.pace.per_second())
            * Duration::from_millis(LINGER_MS).as_secs_f64();
        (LATE_PER_WANTED * (wanted + asleep)).ceil() as u64
    }

    /// How often those who wait check in, about.
    fn interval_ms(&self, survey: &TickInput, settings: &RoomSettings) -> u32 {
        let waiting = survey.waiting();
        let standing = check_in::LineConditions {
            people_ahead: waiting,
            waiting,
            admissions_per_second: self.pace.expected(&survey.usage),
            blocked_seconds: 0.0,
            leaving_per_second: 0.0,
            fastest_per_second: 0.0,
            newcomers_per_second: self.attrition.newcomers_per_second(),
            poll_budget: settings.poll_budget_per_second,
        };
        check_in::interval_ms(survey.method, &standing, 0.5)
    }

    fn figures(&self, survey: &TickInput, plan: &Plan) -> TickFigures {
        let expected = if survey.held { 0.0 } else { self.pace.expected(&survey.usage) };
        // Where nobody waits for it, operators are told what was measured.
        let measured = plan.waiting == 0 || survey.held;
        TickFigures {
            waiting: plan.waiting,
            admissions_per_second: if measured { self.pace.per_second() } else { expected },
            expected_per_second: Some(expected),
            leaving_per_second: self.attrition.per_second(),
            newcomers_per_second: self.attrition.newcomers_per_second(),
            unattended: survey.unattended,
            ahead: ahead::curve(survey, plan.promised, plan.serving_counter),
            rate_resumes_at_ms: survey.rate_resumes_at_ms,
            admitted: Some(survey.admitted),
        }
    }
}

/// The line, if everyone in it can be counted.
fn line(survey: &TickInput) -> Option<Line> {
    let (now_ms, queue_counter) = (survey.now_ms, survey.queue_counter);
    let (waiting, admitted) = (survey.waiting(), survey.admitted);
    survey.is_presence_complete().then_some(Line { now_ms, waiting, queue_counter, admitted })
}

// === impl Silence ===

impl Silence {
    /// Notes in `survey` that a whole crowd is silent, and till when presence is not to be trusted
    /// because it was.
    fn observe(&mut self, survey: &mut TickInput) {
        let from = survey.expired_position;
        let attending = survey.attending.between(from, survey.queue_counter);
        survey.silent = attending < 0.5 && survey.winners == 0 && self.crowd >= CROWD;
        if survey.silent {
            self.until_ms = survey.now_ms + LINGER_MS;
        } else if survey.now_ms >= self.until_ms {
            self.crowd = survey.waiting();
        }
        let until_ms = survey.presence_incomplete_until_ms.max(self.until_ms);
        survey.presence_incomplete_until_ms = until_ms;
    }
}

// === impl WinnersToCome ===

impl WinnersToCome {
    /// How many have yet to learn that they won, if check-ins are spread evenly over an interval.
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
        let mut pulse = TickState::default();
        let survey = |now_ms| crate::plan::TickInput {
            now_ms,
            method: QueueingMethod::Random,
            ..room(100, 90, 1_000, 0)
        };
        let settings = RoomSettings::default();
        let first = pulse.decide(&survey(1_000_000), &settings).plan;
        assert!((first.winners - 11.0).abs() < 1e-6, "10 seats and one who stands by");
        let next = pulse.decide(&survey(1_000_250), &settings).plan;
        assert!(next.winners < 2.0, "the others are on their way: {next:?}");
    }

    #[test]
    fn a_crowd_that_falls_silent_at_once_keeps_its_order() {
        let mut pulse = TickState::default();
        let settings = RoomSettings::default();
        let at = |now_ms| TickInput { now_ms, ..room(10, 10, 1_000, 20) };
        let silent = |now_ms| TickInput { attending: Presence::default(), ..at(now_ms) };
        let empty = |now_ms| TickInput { there: Presence::default(), ..silent(now_ms) };
        pulse.decide(&at(1_000_000), &settings);
        for survey in [silent(1_000_250), empty(1_090_000)] {
            let plan = pulse.decide(&survey, &settings).plan;
            assert_eq!(plan.serving_counter, 20, "nobody could take a seat");
        }
        let first_back =
            TickInput { attending: everyone([700]), there: everyone([700]), ..at(1_090_250) };
        let plan = pulse.decide(&first_back, &settings).plan;
        assert!(plan.serving_counter < 30, "the others are on their way: {plan:?}");
        let later = TickInput { now_ms: 1_153_000, ..first_back };
        let plan = pulse.decide(&later, &settings).plan;
        assert_eq!(plan.serving_counter, 700, "they are not: whoever is there is next");
    }

    #[test]
    fn a_few_people_may_leave_together() {
        let mut pulse = TickState::default();
        let few = |now_ms| TickInput { now_ms, ..room(10, 10, 120, 20) };
        pulse.decide(&few(1_000_000), &RoomSettings::default());
        let gone = TickInput {
            attending: Presence::default(),
            there: Presence::default(),
            ..few(1_070_000)
        };
        let plan = pulse.decide(&gone, &RoomSettings::default()).plan;
        assert_eq!(plan.serving_counter, 120);
    }

    #[test]
    fn the_pace_told_is_what_the_rate_lets_in() {
        let mut pulse = TickState::default();
        let mut survey = room(100, 50, 1_000, 50);
        survey.usage.rate = Some(120);
        let figures = pulse.decide(&survey, &RoomSettings::default()).figures;
        assert!((figures.admissions_per_second - 2.0).abs() < 1e-9);
        assert_eq!(figures.waiting, 950);
    }

    /// What the first newcomer is told, and the pace that operators are told, in a room with this
    /// `usage` where nobody waits: somebody has just entered, and `ended` sessions have ended.
    fn first_newcomer(usage: Usage, ended: u64) -> (Option<f64>, f64) {
        let mut pulse = TickState::default();
        let entered =
            |admitted, now_ms| TickInput { now_ms, usage, admitted, ..room(0, 0, 10, 10) };
        let before = usage.active + ended - 1;
        for (tick, admitted) in [(0, usage.active), (1, before), (2, before + 1)] {
            pulse.decide(&entered(admitted, 1_000_000 + tick * 10_000), &RoomSettings::default());
        }
        let last = entered(before + 1, 1_020_250);
        let figures = pulse.decide(&last, &RoomSettings::default()).figures;
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
        let mut pulse = TickState::default();
        let mut quiet = TickInput { admitted: 10, ..room(0, 0, 10, 10) };
        quiet.usage = Usage { rate: Some(120), ..Usage::default() };
        pulse.decide(&quiet, &RoomSettings::default());
        let later = TickInput { now_ms: 1_010_000, admitted: 11, ..quiet };
        let figures = pulse.decide(&later, &RoomSettings::default()).figures;
        let room = RoomSnapshot { figures, ..snapshot(111, 10) };
        assert_eq!(
            room.outlook(111, 1_010_000, room.progress()).wait.seconds,
            Some(50.0),
            "100 ahead, 2 a second"
        );
    }
}
