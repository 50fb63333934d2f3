//! A serving counter that follows the seats: the turn of clients of the AWS-style API comes only when a seat is free for
//! them, so whoever sees it come and asks gets in at once.
//!
//! By itself a room serves a few more than it has seats, and learns how many of those come
//! ([`crate::serving`]), so that none stays empty. Here every turn has a seat of its own, for [`KEPT_MS`]. Whoever has not
//! entered by then is waited for no more, so people who never come hold a line up for a moment each, and no longer. A
//! latecomer enters if a seat is free, and otherwise waits at the door for the next one.
//!
//! What is shown may be below the serving counter, which an operator may move further than there are seats. It is never
//! above it, and goes back only with it.

use std::collections::VecDeque;

use crate::{
    RoomSettings,
    plan::{Followed, Plan, TickInput, whole},
    presence::{WHOLE, first_position},
    serving::Serving,
    slots::PACE_BURST_SECONDS,
};

/// For so long a seat is kept for somebody whose turn has come, ms: such clients look at the counter every few seconds,
/// and caches before it may be some seconds old.
pub const KEPT_MS: u64 = 10_000;

/// A leader's memory of what was shown, and since when.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Following {
    shown: Option<u64>,
    /// From when on how much was shown: both rise.
    since: VecDeque<(u64, u64)>,
}

// === impl Following ===

impl Following {
    /// What a leader has told by `now_ms`.
    pub fn see(&mut self, shown: Option<u64>, now_ms: u64) {
        if let Some(shown) = shown {
            self.shown = self.shown.max(Some(shown));
            self.note(shown, now_ms);
        }
    }

    /// What this leader tells with its tick.
    pub fn tell(&mut self, shown: Option<u64>) {
        self.shown = shown;
    }

    /// What was shown by the time of `input`, in a room that follows its seats. Where it was not said yet, everyone who is
    /// served knows.
    pub fn follow(&mut self, input: &TickInput, settings: &RoomSettings) -> Option<Followed> {
        if !settings.follows_seats() {
            *self = Self::default();
            return None;
        }
        let told = self.shown.unwrap_or(input.serving_counter);
        let shown = told.max(input.expired_position).min(input.serving_counter);
        self.note(shown, input.now_ms);
        Some(Followed { shown, awaited: self.awaited(input, shown) })
    }

    /// From `now_ms` on, or earlier, so much is shown. What was shown beyond it is shown no more.
    fn note(&mut self, shown: u64, now_ms: u64) {
        while self.since.pop_back_if(|(_, before)| *before > shown).is_some() {}
        if self.since.back().is_none_or(|(_, before)| *before < shown) {
            self.since.push_back((now_ms, shown));
        }
    }

    /// Those whose turn came a moment ago and who have not entered; and those who came late, and stand at the door.
    fn awaited(&mut self, input: &TickInput, shown: u64) -> f64 {
        let is_old = |(at, _): &(u64, u64)| at + KEPT_MS <= input.now_ms;
        while self.since.get(1).is_some_and(is_old) {
            self.since.pop_front();
        }
        let old = self.since.front().filter(|since| is_old(since)).map_or(0, |(_, shown)| *shown);
        let old = old.max(input.expired_position);
        people(input, old, shown) + at_door_upto(input, old)
    }
}

/// Tells as many more that their turn has come as there are seats that are kept for nobody, in a room that follows them.
pub(crate) fn plan(input: &TickInput, followed: Followed, serving: &mut Serving) -> Plan {
    let stay = Plan::stay(input, serving);
    let Followed { shown: told, awaited } = followed;
    let seats = seats(input) - awaited;
    if seats < 1.0 - WHOLE {
        return stay;
    }
    // A counter ahead of the line says nothing of those who have not come.
    let end = input.queue_counter.max(told);
    let enough = |upto| people(input, told, upto) >= (seats + WHOLE).floor() - WHOLE;
    let shown = first_position(told, end, enough);
    let (line, serving_counter) = (input.line(), shown.max(input.serving_counter));
    serving.expose(&line, line.from, serving_counter, input.now_ms, input.periods);
    let promised = whole(awaited + people(input, told, shown)).max(stay.promised);
    Plan { serving_counter, promised, shown: Some(shown), ..stay }
}

/// How many may enter now and in the next moments.
#[expect(clippy::cast_precision_loss, reason = "counts of people")]
fn seats(input: &TickInput) -> f64 {
    let slots = input.usage.slots().unwrap_or(0);
    let soon = input.usage.rate.map(|rate| rate * PACE_BURST_SECONDS / 60);
    let spread = input.spread_left.zip(soon).map(|(now, soon)| now + soon);
    spread.map_or(slots, |spread| slots.min(spread)) as f64
}

/// Everyone between these positions who may come.
fn people(input: &TickInput, after: u64, upto: u64) -> f64 {
    (input.there.between(after, upto) + input.unknown.between(after, upto)).max(0.0)
}

/// How many of those at the door have a position up to `last`, by those who are known.
#[expect(clippy::cast_precision_loss, reason = "counts of people")]
fn at_door_upto(input: &TickInput, last: u64) -> f64 {
    let next = input.door.iter().find(|(position, _)| *position > last);
    next.map_or(input.at_door, |(_, before)| *before) as f64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{
        plan::test_support::{everyone, room},
        slots::Usage,
        tick::TickState,
    };

    fn settings() -> RoomSettings {
        RoomSettings {
            total_active_users: Some(10),
            serving_counter_follows_seats: true,
            aws_style_api: true,
            ..RoomSettings::default()
        }
    }

    /// A tick of a room of ten seats, in which nobody is heard: `waits` are those who have not entered.
    fn input(
        now_ms: u64,
        active: u64,
        serving: u64,
        waits: impl Iterator<Item = u64>,
    ) -> TickInput {
        let unknown = everyone(waits);
        let there = everyone([]);
        TickInput { now_ms, there, unknown, ..room(10, active, 100, serving) }
    }

    fn shown(state: &mut TickState, input: &TickInput) -> (u64, u64) {
        let decision = state.decide(input, &settings());
        (decision.figures.shown.unwrap(), decision.plan.serving_counter)
    }

    #[test]
    fn a_turn_is_a_seat_and_nobody_stands_by() {
        let mut state = TickState::default();
        assert_eq!(shown(&mut state, &input(1_000, 0, 0, 1..=100)), (10, 10));
        assert_eq!(shown(&mut state, &input(1_250, 0, 10, 1..=100)), (10, 10), "seats are kept");
        assert_eq!(shown(&mut state, &input(1_500, 4, 10, 5..=100)), (10, 10), "four came");
        assert_eq!(shown(&mut state, &input(1_750, 10, 10, 11..=100)), (10, 10), "all did");
        assert_eq!(shown(&mut state, &input(2_000, 8, 10, 11..=100)), (12, 12), "two have left");
        let others =
            TickState::default().decide(&input(1_000, 0, 0, 1..=100), &RoomSettings::default());
        assert_eq!(others.figures.shown, None);
        assert!(others.plan.serving_counter > 10, "otherwise somebody stands by");
    }

    #[test]
    fn who_does_not_come_is_waited_for_so_long_and_no_longer() {
        let mut state = TickState::default();
        shown(&mut state, &input(1_000, 0, 0, 1..=100));
        // Three came, seven never do; the next tick has seen them served.
        let waits = || 4..=100;
        assert_eq!(shown(&mut state, &input(1_250, 3, 10, waits())).0, 10);
        assert_eq!(shown(&mut state, &input(1_000 + KEPT_MS, 3, 10, waits())).0, 10);
        assert_eq!(shown(&mut state, &input(1_250 + KEPT_MS, 3, 10, waits())).0, 17);
        // One of the seven comes late, and has the next seat.
        let late = TickInput {
            at_door: 1,
            door: vec![(5, 0)],
            ..input(1_500 + KEPT_MS, 10, 17, (4..=10).chain(18..=100))
        };
        assert_eq!(shown(&mut state, &late).0, 17);
        let free = TickInput { usage: Usage { active: 9, ..late.usage }, ..late.clone() };
        assert_eq!(shown(&mut state, &free).0, 17, "it is the late one's");
        let free = TickInput { usage: Usage { active: 8, ..late.usage }, ..late };
        assert_eq!(shown(&mut state, &free).0, 18);
    }

    #[test]
    fn an_operators_increment_shows_no_number_beyond_the_seats() {
        let mut state = TickState::default();
        shown(&mut state, &input(1_000, 0, 0, 1..=100));
        assert_eq!(shown(&mut state, &input(1_250, 10, 60, 11..=100)), (10, 60));
        assert_eq!(shown(&mut state, &input(1_500, 7, 60, 11..=100)), (13, 60));
        assert_eq!(shown(&mut state, &input(1_750, 10, 5, 11..=100)), (5, 5), "and back");
        let ahead = TickInput { queue_counter: 3, ..input(1_000, 0, 60, 1..=3) };
        let mut following = Following::default();
        following.see(Some(0), 1_000);
        let followed = following.follow(&ahead, &settings()).unwrap();
        let plan = plan(&ahead, followed, &mut Serving::default());
        assert_eq!(
            (plan.shown, plan.serving_counter),
            (Some(3), 60),
            "of the others nobody has come"
        );
    }

    #[test]
    fn another_leader_goes_on_where_the_last_one_was() {
        let mut following = Following::default();
        following.see(Some(10), 1_000);
        following.see(Some(10), 3_000);
        let followed = |following: &mut Following, now_ms| {
            following.follow(&input(now_ms, 3, 30, 4..=100), &settings()).unwrap()
        };
        let early = followed(&mut following.clone(), 1_000 + KEPT_MS - 1);
        assert_eq!((early.shown, whole(early.awaited)), (10, 7));
        let late = followed(&mut following, 1_000 + KEPT_MS);
        assert_eq!((late.shown, whole(late.awaited)), (10, 0));
        let off = following.follow(&input(20_000, 3, 30, 4..=100), &RoomSettings::default());
        assert_eq!((off, following), (None, Following::default()));
    }

    #[test]
    fn where_a_rate_is_spread_so_are_turns() {
        let usage = Usage { rate: Some(60), ..Usage::default() };
        let first = |spread_left| {
            let spread_left = Some(spread_left);
            let input = TickInput { usage, spread_left, ..input(1_000, 0, 0, 1..=100) };
            let rated = RoomSettings {
                total_active_users: None,
                new_users_per_minute: Some(60),
                ..settings()
            };
            TickState::default().decide(&input, &rated).figures.shown
        };
        assert_eq!((first(3), first(0)), (Some(5), Some(2)), "what the next two seconds let in");
    }

    proptest! {
        /// Seats come free, people come or never do, in any order, at any time: what is shown never goes back, nobody who
        /// comes in time finds no seat, and the line goes on to its end.
        #[test]
        fn whoever_comes_in_time_has_a_seat(
            comes in prop::collection::vec(prop::bool::weighted(0.7), 60),
            delays in prop::collection::vec(0_u64..KEPT_MS - 250, 60),
            stays in prop::collection::vec(1_u64..30_000, 60),
        ) {
            let mut state = TickState::default();
            let (mut counter, mut told, mut inside) = (0, vec![None; 61], vec![None; 61]);
            let mut now_ms = 1_000;
            for tick in 0.. {
                prop_assert!(tick < 8_000, "stuck at {counter}");
                now_ms += 250;
                // Whoever is told comes a while later, and leaves a while after that.
                for number in 1..=60_usize {
                    if let Some(at) = told[number]
                        && comes[number - 1] && inside[number].is_none()
                        && now_ms >= at + delays[number - 1]
                    {
                        let taken = inside.iter().flatten().filter(|until| **until > now_ms).count();
                        prop_assert!(taken < 10, "{number} finds no seat");
                        inside[number] = Some(now_ms + stays[number - 1]);
                    }
                }
                let active = inside.iter().flatten().filter(|until| **until > now_ms).count() as u64;
                let waits = (1..=60).filter(|number| inside[*number].is_none()).map(|n| n as u64);
                let input = TickInput { queue_counter: 60, ..input(now_ms, active, counter, waits) };
                let (shown, serving) = shown(&mut state, &input);
                prop_assert!(shown >= counter && shown == serving);
                for told in told.iter_mut().skip(1).take(usize::try_from(shown).unwrap()) {
                    told.get_or_insert(now_ms);
                }
                counter = shown;
                let all = (1..=60_usize).all(|number| !comes[number - 1] || inside[number].is_some());
                if counter == 60 && all { break; }
            }
        }
    }
}
