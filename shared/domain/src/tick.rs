//! The leader's memory of a room between two ticks, and the decision of a tick.

use std::collections::VecDeque;

use crate::{
    Enter, RoomSettings, RoomSnapshot, TickFigures, ahead,
    check_in::{self, LineConditions},
    following::Following,
    no_shows::NoShows,
    plan::{Plan, TickInput, plan},
    regions::{Grants, Shares},
    ripening::Ripening,
    serving::{Came, Periods, Serving},
    told::{Next, Told},
    wait::{Attrition, Line, Pace},
};

/// A leader's memory of one room.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TickState {
    pace: Pace,
    attrition: Attrition,
    serving: Serving,
    no_shows: NoShows,
    arrivals: Arrivals,
    /// Since when somebody has been waiting, ms.
    waiting_since_ms: Option<u64>,
    told: Told,
    following: Following,
    winners: WinnersToCome,
    shares: Shares,
    /// Whether nobody could enter at the last tick.
    was_held: bool,
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
    /// Within what time AWS-style visitors ask once they are served, as far as it was observed, ms.
    pub unknown_period_ms: u64,
}

/// What the leader saw of the door and of the counter with the last tick.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Arrivals {
    seen: Option<Door>,
    /// How long after they were served people of whom nobody knew came, on average, ms; fades.
    mean_ms: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Door {
    came_known: u64,
    came_unknown: u64,
    came_after_ms: u64,
    /// Up to where the leader knows who was served.
    serving_counter: u64,
}

/// Fewer people than this may have left together.
const CROWD: f64 = 200.0;
/// A crowd of which nobody is heard for this many times the mean interval between its check-ins has not
/// left: the services or the network cannot be reached.
const SILENT_INTERVALS: f64 = 20.0;
/// A crowd is never called silent sooner, ms.
const SILENT_MS: f64 = 3_000.0;
/// Within this time visitors ask who were told to come back at once, ms. Agrees with `WEB_PERIOD_MS` in
/// `scripts/lib/door.lua`.
const WEB_PERIOD_MS: u64 = 1_250;
/// Within this time whoever is there presses the button, if the room does not say for how long a seat is held, in seconds.
/// Agrees with `FIRST_HOLD_MS` in `scripts/lib/holds.lua`.
const PRESSED_WITHIN_S: u64 = 30;
/// An ask takes so long on its way, ms.
const ON_THE_WAY_MS: u64 = 250;
/// What is assumed of AWS-style visitors before any has come, ms.
const AWS_PERIOD_MS: f64 = 2_000.0;
/// The longest time within which they are expected, ms.
const LONGEST_AWS_PERIOD_MS: f64 = 10_000.0;
/// How long somebody who has gone counts as there, on average, ms: see `presence::band`.
const OVERSTAY_MS: u64 = 80_000;
/// The newest arrivals' part in the mean.
const NEW_PART: f64 = 0.2;

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

    /// Sees the room as all services know it. Visitors are told by that when to ask again; and whoever does not
    /// lead follows by it, so that a new leader knows the pace of its room and what the line was told.
    pub fn see(&mut self, snapshot: &RoomSnapshot) {
        self.told.note(snapshot);
        self.following.see(snapshot.figures.shown, snapshot.now_ms);
        self.pace.follow(snapshot.now_ms, snapshot.admitted, snapshot.active);
    }

    /// Decides the tick of the room read as `input`.
    pub fn decide(&mut self, input: &TickInput, settings: &RoomSettings) -> TickDecision {
        let mut input = input.clone();
        self.pace.observe(input.now_ms, input.admitted, input.usage.active);
        let interval_ms = self.interval_ms(&input, settings);
        input.winners_to_come = self.winners.expected(input.now_ms, interval_ms);
        input.is_silent = is_silent(&input, interval_ms);
        input.periods = Periods {
            known: self.next_asks(&input, settings),
            unknown_ms: if input.is_presence_complete {
                self.arrivals.period_ms()
            } else {
                // They are visitors of all kinds, who ask when they were told to.
                self.arrivals.period_ms().max(interval_ms.into()) + ON_THE_WAY_MS
            },
        };
        self.see_who_came(&input);
        input.follows = self.following.follow(&input, settings);
        self.attrition.observe(line(&input, &self.serving));
        let waits = input.waiting(&self.serving) > 0;
        self.waiting_since_ms = waits.then(|| self.waiting_since_ms.unwrap_or(input.now_ms));
        let standby = self.pace.standby(&input.usage);
        let plan = plan(&input, standby, &mut self.serving);
        self.arrivals.served_upto(plan.serving_counter);
        self.winners.add(input.now_ms, plan.winners);
        self.following.tell(plan.shown);
        let figures = self.figures(&input, &plan);
        let slots = if input.held { 0 } else { input.usage.slots().unwrap_or(0) };
        let grants = self.shares.divide(slots);
        TickDecision { plan, figures, grants, unknown_period_ms: self.arrivals.period_ms() }
    }

    /// Learns from who came to the door since the last tick, and who was served by others meanwhile.
    fn see_who_came(&mut self, input: &TickInput) {
        let (mut came, served_from) = self.arrivals.see(input);
        if !input.is_presence_complete {
            // Whoever comes now may be of either kind.
            came.unknown += came.known;
        }
        if input.is_silent || input.held {
            self.was_held |= input.held;
            return;
        }
        if std::mem::take(&mut self.was_held) {
            self.await_the_served(input);
        }
        let exposed = self.serving.observe(came, input.now_ms);
        self.no_shows.observe(exposed, came.known, self.stood_seconds(input.now_ms), input.now_ms);
        let line = input.line();
        if served_from < line.from {
            self.serving.expose(&line, served_from, line.from, input.now_ms, input.periods);
        }
    }

    /// Of those who were served before the room was held, or while it was, nobody could come: all who are there come now.
    fn await_the_served(&mut self, input: &TickInput) {
        self.serving.forget_who_is_to_come();
        let line = input.line();
        let (after, upto) = (input.expired_position, line.from);
        self.serving.expose(&line, after, upto, input.now_ms, input.periods);
        self.arrivals.served_upto(upto);
    }

    /// The approximate interval at which waiting visitors check in, ms.
    fn interval_ms(&self, input: &TickInput, settings: &RoomSettings) -> u32 {
        let waiting = input.waiting(&self.serving);
        let conditions = LineConditions {
            people_ahead: waiting,
            waiting,
            polling: input.polling(&self.serving),
            admissions_per_second: self.pace.expected(&input.usage),
            fastest_per_second: self.pace.fastest(&input.usage),
            newcomers_per_second: self.attrition.newcomers_per_second(),
            poll_budget: settings.poll_budget_per_second,
            ..LineConditions::default()
        };
        check_in::interval_ms(input.method, &conditions, 0.5)
    }

    /// When those who are next ask for a seat. Who enters by a button does so once it has pressed it.
    #[expect(clippy::cast_precision_loss, reason = "people, times of seconds")]
    fn next_asks(&self, input: &TickInput, settings: &RoomSettings) -> Ripening {
        let standby = self.pace.standby(&input.usage).people();
        let wanted = standby + input.usage.paced_slots().unwrap_or(0) as f64;
        let near = input.at_or_near_door(&self.serving).min(wanted);
        let asks = self.told.asks(&Next {
            now_ms: input.now_ms,
            admitted: input.admitted,
            // They stand between those who are near the door and the last one wanted there.
            ahead: near..wanted,
        });
        let asks = asks.later(ON_THE_WAY_MS as f64);
        match settings.enter {
            Enter::Automatic => asks,
            Enter::Button => {
                let within_s = settings.turn_hold_seconds.unwrap_or(PRESSED_WITHIN_S);
                asks.taking_longer(1_000.0 * within_s as f64)
            }
        }
    }

    /// For how long those who are next have stood in line at most, in seconds, as far as it matters: who has
    /// gone for longer does not count as there any more.
    fn stood_seconds(&self, now_ms: u64) -> f64 {
        let stood_ms = self.waiting_since_ms.map_or(0, |since| now_ms.saturating_sub(since));
        std::time::Duration::from_millis(stood_ms.min(OVERSTAY_MS)).as_secs_f64()
    }

    /// The share of the waiting who give up per second. Who has gone counts as there for a while, and is seen
    /// to have gone sooner when its turn comes.
    fn leaving_per_second(&self) -> f64 {
        let seen = self.no_shows.shares().per_second / self.serving.known.lasting_share();
        self.attrition.per_second().max(seen)
    }

    fn figures(&self, input: &TickInput, plan: &Plan) -> TickFigures {
        let expected = if input.held { 0.0 } else { self.pace.expected(&input.usage) };
        // While nobody waits, or the room is held, operators are shown the measured pace.
        let measured = plan.waiting == 0 || input.held;
        TickFigures {
            waiting: plan.waiting,
            polling: Some(input.polling(&self.serving)),
            admissions_per_second: if measured { self.pace.per_second() } else { expected },
            expected_per_second: Some(expected),
            fastest_per_second: Some(if input.held {
                self.pace.fastest_at_release(&input.usage)
            } else {
                self.pace.fastest(&input.usage)
            }),
            leaving_per_second: self.leaving_per_second(),
            newcomers_per_second: self.attrition.newcomers_per_second(),
            unattended: input.unattended,
            ahead: ahead::curve(input, &self.serving, plan),
            rate_resumes_at_ms: input.rate_resumes_at_ms,
            admitted: Some(input.admitted),
            shown: plan.shown,
        }
    }
}

/// Those of the line who check in, if everyone in it was counted.
fn line(input: &TickInput, serving: &Serving) -> Option<Line> {
    let line = Line {
        now_ms: input.now_ms,
        polling: input.polling(serving),
        came: input.queue_counter.saturating_sub(input.aws_joined + input.kept_out),
        entered: input.admitted.saturating_sub(input.aws_admitted),
    };
    (input.is_counted && input.is_presence_complete).then_some(line)
}

/// Whether a whole crowd fell silent at once, which checks in every `interval_ms`. Such a crowd has not
/// left: the services or the network cannot be reached. Then nobody is served in its place.
#[expect(clippy::cast_precision_loss, reason = "a few seconds")]
fn is_silent(input: &TickInput, interval_ms: u32) -> bool {
    let crowd = input.there.between(input.expired_position, input.queue_counter);
    let silent_ms = input.now_ms.saturating_sub(input.heard_at_ms) as f64;
    let usual_ms = f64::from(interval_ms) / crowd.max(1.0);
    crowd >= CROWD && silent_ms > (usual_ms * SILENT_INTERVALS).max(SILENT_MS)
}

// === impl Arrivals ===

impl Arrivals {
    /// Who came to the door since the last tick, and up to where the leader knew who was served.
    #[expect(clippy::cast_precision_loss, reason = "counts of people, times of seconds")]
    fn see(&mut self, input: &TickInput) -> (Came, u64) {
        let door = Door {
            came_known: input.came_known,
            came_unknown: input.came_unknown,
            came_after_ms: input.came_after_ms,
            serving_counter: input.serving_counter,
        };
        let Some(before) = self.seen.replace(door) else {
            let came = Came { are_all: input.nobody_waits, ..Came::default() };
            return (came, input.serving_counter);
        };
        let since = |now: u64, then: u64| now.saturating_sub(then) as f64;
        let known = since(door.came_known, before.came_known);
        let unknown = since(door.came_unknown, before.came_unknown);
        if unknown > 0.0 {
            let mean_ms = since(door.came_after_ms, before.came_after_ms) / unknown;
            let part = if self.mean_ms > 0.0 { NEW_PART } else { 1.0 };
            self.mean_ms += (mean_ms - self.mean_ms) * part;
        }
        (Came { known, unknown, are_all: input.nobody_waits }, before.serving_counter)
    }

    fn served_upto(&mut self, serving_counter: u64) {
        if let Some(seen) = &mut self.seen {
            seen.serving_counter = serving_counter;
        }
    }

    /// Within what time AWS-style visitors ask, ms: who looks at the counter every so often comes half as
    /// long after it was served, on average.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
    fn period_ms(&self) -> u64 {
        let observed = if self.mean_ms > 0.0 { 2.0 * self.mean_ms } else { AWS_PERIOD_MS };
        let shortest = u32::try_from(WEB_PERIOD_MS).unwrap_or(u32::MAX);
        observed.clamp(shortest.into(), LONGEST_AWS_PERIOD_MS) as u64
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
        plan::test_support::room,
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

    /// The share told to leave per second after forty seconds, in which 200 a second were served, of whom this
    /// part did not come, by the seconds that they had stood.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "small counts"
    )]
    fn leaving_told(missing: impl Fn(f64) -> f64) -> f64 {
        let mut state = TickState::default();
        let came = |tick: u64| {
            (0..tick).map(|tick| 50.0 * (1.0 - missing(tick as f64 / 4.0))).sum::<f64>()
        };
        let input = |tick: u64| TickInput {
            now_ms: 1_000_000 + tick * 250,
            heard_at_ms: 1_000_000 + tick * 250,
            queue_counter: 10_000,
            serving_counter: tick * 50,
            // They come within about two seconds.
            came_known: came(tick.saturating_sub(4)) as u64,
            there: crate::plan::test_support::everyone(1..=10_000),
            ..room(10, 10, 10_000, tick * 50)
        };
        let settings = RoomSettings::default();
        let figures = |tick| state.decide(&input(tick), &settings).figures;
        (0..160).map(figures).last().unwrap().leaving_per_second
    }

    #[test]
    fn whoever_does_not_come_when_its_turn_comes_has_left_the_line() {
        let leaving = leaving_told(|stood| 0.005 * stood);
        assert!((0.003..0.008).contains(&leaving), "{leaving}");
        let never_there = leaving_told(|_| 0.5);
        assert!(never_there < 0.01, "they did not leave meanwhile: {never_there}");
    }

    #[test]
    fn those_of_whom_nobody_knows_cost_no_polls_and_do_not_leave() {
        let mut state = TickState::default();
        let ghosts =
            |last: u32| crate::presence::Crowd { first: 1, last: last.into(), count: last.into() };
        let mut input = |tick: u64, ghosts_in_line: u32| {
            let count = u64::from(ghosts_in_line);
            let input = TickInput {
                now_ms: 1_000_000 + tick * 250,
                queue_counter: count + 100,
                aws_joined: count,
                there: crate::plan::test_support::everyone(count + 1..=count + 100),
                unknown: Presence::new(&[ghosts(ghosts_in_line)]),
                ..room(10, 10, 0, 0)
            };
            state.decide(&input, &RoomSettings::default()).figures
        };
        assert_eq!(input(0, 5_000).polling, Some(100));
        let after = input(1, 30_000);
        assert_eq!(
            (after.polling, after.newcomers_per_second),
            (Some(100), 0.0),
            "they do not ask"
        );
        assert!(
            after.waiting > 29_000,
            "until it is seen that they do not come: {}",
            after.waiting
        );
        let gone = (2..40).map(|tick| input(tick, 1_000)).last().unwrap();
        assert!(gone.waiting <= 1_100 && gone.leaving_per_second <= 0.0, "{gone:?}");
    }

    #[test]
    fn who_was_served_before_a_hold_is_awaited_after_it() {
        let (mut state, settings) = (TickState::default(), RoomSettings::default());
        let at = |tick: u64, serving_counter| TickInput {
            now_ms: 1_000_000 + tick * 250,
            heard_at_ms: 1_000_000 + tick * 250,
            serving_counter,
            expired_position: 0,
            there: crate::plan::test_support::everyone(1..=1_000),
            ..room(100, 0, 1_000, serving_counter)
        };
        let served = state.decide(&at(0, 0), &settings).plan.serving_counter;
        assert!((100..150).contains(&served), "{served}");
        let held = |tick| TickInput { held: true, ..at(tick, served) };
        for tick in 1..240 {
            let decision = state.decide(&held(tick), &settings);
            assert_eq!(decision.plan.serving_counter, served);
            let fastest = decision.figures.fastest_per_second.unwrap();
            assert!(fastest > 1.0, "a hundred seats are free: {fastest}");
        }
        let released = state.decide(&at(240, served), &settings).plan;
        assert_eq!(released.serving_counter, served, "they come now");
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
        assert!((first.winners - 10.0).abs() < 1e-6, "one for each seat");
        let next = state.decide(&input(1_000_250), &settings).plan;
        assert!(next.winners < 2.0, "the others are on their way: {next:?}");
    }

    #[test]
    fn a_crowd_that_falls_silent_at_once_keeps_its_order() {
        let mut state = TickState::default();
        let settings = RoomSettings::default();
        let at = |now_ms, heard_at_ms| TickInput { now_ms, heard_at_ms, ..room(10, 10, 1_000, 20) };
        let served = state.decide(&at(1_003_000, 1_003_000), &settings).plan.serving_counter;
        assert_eq!(served, 21, "one stands by");
        for now_ms in (1_004_000..1_060_000).step_by(250) {
            let input = TickInput { serving_counter: served, ..at(now_ms, 1_000_750) };
            assert_eq!(state.decide(&input, &settings).plan.serving_counter, served, "nobody asks");
        }
        let back = TickInput { serving_counter: served, ..at(1_060_250, 1_060_250) };
        assert!(state.decide(&back, &settings).plan.serving_counter <= 23);
    }

    #[test]
    fn whoever_was_served_by_others_is_expected_too() {
        let mut state = TickState::default();
        let settings = RoomSettings::default();
        let before = TickInput { serving_counter: 0, ..room(100, 90, 200, 0) };
        let first = state.decide(&before, &settings).plan;
        assert_eq!((first.serving_counter, first.promised), (11, 11), "10 seats and one more");
        // An operator serves 50 more.
        let after = TickInput { serving_counter: 61, now_ms: 1_000_250, ..before };
        assert_eq!(state.decide(&after, &settings).plan.serving_counter, 61, "all may be coming");
    }

    #[test]
    fn who_has_to_press_a_button_is_awaited_for_as_long_as_people_take() {
        let served_after = |enter, turn_hold_seconds, seconds: u64| {
            let mut state = TickState::default();
            let settings = RoomSettings { enter, turn_hold_seconds, ..RoomSettings::default() };
            let mut served = 0;
            for tick in 0..=4 * seconds {
                let now_ms = 1_000_000 + tick * 250;
                let there = crate::plan::test_support::everyone(1..=200);
                let heard_at_ms = now_ms;
                let nobody_has_come = room(10, 0, 200, served);
                let input = TickInput { now_ms, there, heard_at_ms, ..nobody_has_come };
                served = state.decide(&input, &settings).plan.serving_counter;
            }
            served
        };
        assert_eq!(served_after(Enter::Automatic, None, 0), served_after(Enter::Button, None, 0));
        assert!(served_after(Enter::Automatic, None, 10) > 30, "whoever is there would have come");
        assert!(served_after(Enter::Button, None, 10) < 20);
        assert!(served_after(Enter::Button, None, 60) > 20, "they do not press it");
        assert!(served_after(Enter::Button, Some(10), 30) > 20, "nor here");
    }

    #[test]
    fn once_everyone_has_entered_no_seat_is_kept_for_anybody() {
        let mut state = TickState::default();
        let settings = RoomSettings::default();
        let before = room(40, 20, 60, 40);
        let first = state.decide(&before, &settings).plan;
        assert_eq!((first.serving_counter, first.promised), (60, 20));
        // They come at once, sooner than they had to.
        let entered = TickInput {
            now_ms: before.now_ms + 250,
            came_known: 20,
            admitted: 20,
            there: Presence::default(),
            nobody_waits: true,
            ..room(40, 39, 60, 60)
        };
        let next = state.decide(&entered, &settings).plan;
        assert_eq!((next.promised, next.waiting), (0, 0), "a newcomer finds the seat free");
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
