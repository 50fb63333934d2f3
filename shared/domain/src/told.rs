//! When those who are next ask again. Each asks when it was told to; and it was told so when it was farther
//! away, the pace perhaps another, and it itself perhaps a newcomer.

use std::{collections::VecDeque, ops::Range};

use crate::{
    QueueingMethod, RoomSnapshot,
    check_in::{self, LineConditions},
    ripening::{Part, Ripening},
};

/// Whoever is next was told its interval within about this time, ms,
const KEPT_MS: u64 = 25_000;
/// by conditions that are noted this often, ms.
const EVERY_MS: u64 = 500;

/// By what intervals were told in the last seconds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Told(VecDeque<Moment>);

/// By what they were told from one moment until the next.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Moment {
    now_ms: u64,
    admitted: u64,
    /// Everybody in line.
    waiting: u64,
    /// Whoever had at least so many ahead of it waits for a draw, if there is one: it knew no place, and was told as the
    /// last one in line is.
    before_pool: Option<u64>,
    /// By what method the room went then.
    method: QueueingMethod,
    conditions: LineConditions,
}

/// Those who are next.
#[derive(Debug, Clone)]
pub struct Next {
    /// The time, ms.
    pub now_ms: u64,
    /// How many sessions began so far.
    pub admitted: u64,
    /// How many people are ahead of the first of those who are next, and of the last.
    pub ahead: Range<f64>,
}

/// Those who were told at one moment: which share they are of all who are next, when they were told, and after
/// how long they ask again, ms.
#[derive(Debug, Clone, Copy)]
struct Cohort {
    share: f64,
    from: f64,
    until: f64,
    soonest: f64,
    latest: f64,
}

// === impl Told ===

impl Told {
    /// From this snapshot on, intervals are told by it.
    pub fn note(&mut self, snapshot: &RoomSnapshot) {
        let &RoomSnapshot { now_ms, admitted, .. } = snapshot;
        if self.0.back().is_some_and(|last| now_ms < last.now_ms) {
            // The clock was set back.
            self.0.clear();
        }
        // At the same times whatever happens in between.
        if self.0.back().is_some_and(|last| now_ms / EVERY_MS == last.now_ms / EVERY_MS) {
            return;
        }
        while self.0.front().is_some_and(|first| first.now_ms + KEPT_MS < now_ms) {
            self.0.pop_front();
        }
        let conditions = snapshot.line_conditions(None, now_ms, snapshot.progress());
        let before_pool = (snapshot.pool_first > 0)
            .then(|| snapshot.people_ahead(snapshot.pool_first, snapshot.progress()));
        let waiting = snapshot.waiting();
        let method = snapshot.settings.queueing_method;
        self.0.push_back(Moment { now_ms, admitted, waiting, before_pool, method, conditions });
    }

    /// When those who are next ask, from now on.
    ///
    /// Followed from when they joined: each was told then, and whoever asks again at a later moment is told
    /// again, by that moment's conditions. Who stood in line before the first moment asks at any time within
    /// its interval.
    #[must_use]
    pub fn asks(&self, next: &Next) -> Ripening {
        let mut cohorts = self.cohorts(next);
        let mut to_come = Vec::with_capacity(cohorts.len());
        for nth in 0..cohorts.len() {
            let (told, later) = cohorts.split_at_mut(nth + 1);
            let asking = told[nth].asking();
            for cohort in later {
                cohort.share += asking.between(cohort.from, cohort.until);
            }
            to_come.extend(asking.from(0.0));
        }
        Ripening::of(&to_come)
    }

    /// Those who are next by when they joined: before the first moment, and from each moment until the one after
    /// it. Times are before and after now.
    #[expect(clippy::cast_precision_loss, reason = "times of seconds, counts of people")]
    fn cohorts(&self, next: &Next) -> Vec<Cohort> {
        let since_now = |moment: &Moment| -(next.now_ms.saturating_sub(moment.now_ms) as f64);
        // Behind so many people, counted as now, the line ended then.
        let end = |moment: &Moment| {
            moment.waiting as f64 - next.admitted.saturating_sub(moment.admitted) as f64
        };
        let mut joined = 0.0;
        let mut joins = |upto: f64| {
            let share = part_upto(&next.ahead, upto) - joined;
            joined += share.max(0.0);
            share.max(0.0)
        };
        let mut cohorts = Vec::with_capacity(self.0.len() + 1);
        if let Some(first) = self.0.front() {
            let (soonest, latest) = first.interval_ms(next);
            let (from, share) = (since_now(first), joins(end(first)));
            cohorts.push(Cohort { share, from: from - soonest, until: from, soonest, latest });
        }
        for (nth, moment) in self.0.iter().enumerate() {
            let after = self.0.get(nth + 1);
            let (soonest, latest) = moment.interval_ms(next);
            cohorts.push(Cohort {
                share: joins(after.map_or(f64::INFINITY, end)),
                from: since_now(moment),
                until: after.map_or(0.0, since_now),
                soonest,
                latest,
            });
        }
        cohorts
    }
}

/// Which part of this range of people stands before there.
fn part_upto(people: &Range<f64>, upto: f64) -> f64 {
    ((upto - people.start) / (people.end - people.start).max(1.0)).clamp(0.0, 1.0)
}

// === impl Moment ===

impl Moment {
    /// Between which intervals those who are next were told then, ms.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a number of people"
    )]
    fn interval_ms(&self, next: &Next) -> (f64, f64) {
        let ahead = f64::midpoint(next.ahead.start, next.ahead.end) as u64;
        let people_ahead = ahead + next.admitted.saturating_sub(self.admitted);
        let conditions = if self.before_pool.is_some_and(|before| people_ahead >= before) {
            self.conditions
        } else {
            LineConditions { people_ahead, ..self.conditions }
        };
        let interval = |spread| check_in::interval_ms(self.method, &conditions, spread).into();
        (interval(0.0), interval(1.0))
    }
}

// === impl Cohort ===

impl Cohort {
    /// When its people ask again: never before the moment is over.
    fn asking(&self) -> Part {
        let first_ms = (self.from + self.soonest).max(self.until);
        Part { share: self.share, first_ms, last_ms: self.until + self.latest }
    }
}

// === impl Part ===

impl Part {
    /// Which share of all asks in this span.
    fn between(&self, from_ms: f64, until_ms: f64) -> f64 {
        self.share * (self.left(from_ms) - self.left(until_ms))
    }

    /// Those of it who ask from then on.
    fn from(&self, at_ms: f64) -> Option<Self> {
        let share = self.share * self.left(at_ms);
        let part = Self { share, first_ms: self.first_ms.max(at_ms), ..*self };
        (share > 0.0).then_some(part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{TickFigures, snapshot::test_support::snapshot};

    /// A line of so many in second `n`, while ten a second are let in.
    fn told(seconds: u64, waiting: impl Fn(u64) -> u64) -> (Told, u64) {
        let mut told = Told::default();
        for second in 0..seconds {
            let (waiting, admitted) = (waiting(second), second * 10);
            let figures = TickFigures {
                waiting,
                admissions_per_second: 10.0,
                ahead: vec![(admitted, 0), (admitted + waiting, waiting)],
                admitted: Some(admitted),
                ..TickFigures::default()
            };
            let room = snapshot(admitted + waiting, 0);
            told.note(&RoomSnapshot { now_ms: second * 1_000, admitted, figures, ..room });
        }
        (told, (seconds - 1) * 1_000)
    }

    fn asks(told: &(Told, u64), ahead: f64) -> Ripening {
        let (admitted, ahead) = (told.1 / 100, ahead..ahead + 1.0);
        told.0.asks(&Next { now_ms: told.1, admitted, ahead })
    }

    #[test]
    fn those_near_the_front_ask_within_a_second_or_so() {
        let asks = asks(&told(60, |_| 40), 20.0);
        assert!(asks.left(0.0) > 0.99 && asks.left(1_200.0) < 0.05, "{asks:?}");
        assert!((0.4..0.65).contains(&asks.left(500.0)), "evenly: {asks:?}");
    }

    #[test]
    fn those_who_were_far_away_a_moment_ago_ask_when_they_were_told_to_then() {
        // A hundred seconds' worth of people: told to ask in ten seconds, and now they are next.
        let asks = asks(&told(60, |_| 3_000), 1_000.0);
        assert!((8_500..=12_600).contains(&asks.last_ms()), "{asks:?}");
        assert!((0.3..0.7).contains(&asks.left(5_000.0)), "{asks:?}");
        assert!(asks.left(500.0) > 0.85, "{asks:?}");
    }

    #[test]
    fn who_waits_for_a_draw_was_told_as_the_last_in_line_is() {
        let mut told = Told::default();
        for second in 0..60 {
            let figures = TickFigures {
                waiting: 3_000,
                admissions_per_second: 10.0,
                ahead: vec![(0, 0), (3_000, 3_000)],
                ..TickFigures::default()
            };
            let room = RoomSnapshot { pool_first: 41, figures, ..snapshot(3_000, 0) };
            told.note(&RoomSnapshot { now_ms: second * 1_000, ..room });
        }
        let asks = |ahead: f64| {
            let ahead = ahead..ahead + 1.0;
            told.asks(&Next { now_ms: 59_000, admitted: 0, ahead })
        };
        assert!(asks(20.0).left(1_400.0) < 0.05, "those who stood in line before the pool");
        assert!(
            asks(100.0).left(10_000.0) > 0.3,
            "told to ask in twenty seconds: {asks:?}",
            asks = asks(100.0)
        );
    }

    #[test]
    fn what_was_told_by_another_method_holds_until_it_is_over() {
        let mut told = Told::default();
        for second in 0..60 {
            let (waiting, method) = (28_000, QueueingMethod::Random);
            let figures = TickFigures {
                waiting,
                ahead: vec![(0, 0), (28_000, 28_000)],
                ..TickFigures::default()
            };
            let mut room = RoomSnapshot { figures, ..snapshot(28_000, 0) };
            room.settings.queueing_method = method;
            told.note(&RoomSnapshot { now_ms: second * 1_000, ..room });
        }
        let asks = told.asks(&Next { now_ms: 59_000, admitted: 0, ahead: 0.0..10.0 });
        assert!(asks.left(10_000.0) > 0.3, "all were told to ask in twenty seconds: {asks:?}");
    }

    #[test]
    fn whoever_joined_a_moment_ago_asks_after_its_first_interval() {
        let crowd = told(3, |second| if second == 0 { 0 } else { 3_000 });
        let asks = asks(&crowd, 1_000.0);
        assert!(asks.left(5_000.0) > 0.99, "told to ask in ten seconds, two ago: {asks:?}");
        assert!(asks.left(11_000.0) < 0.01, "{asks:?}");
    }

    #[test]
    fn who_joined_one_after_the_other_and_is_called_together_asks_one_after_the_other() {
        let crowd = told(5, |second| 100 * second);
        let range = |ahead| Next { now_ms: 4_000, admitted: 40, ahead };
        let (some, all) = (crowd.0.asks(&range(0.0..50.0)), crowd.0.asks(&range(0.0..350.0)));
        let middle =
            |asks: &Ripening| (0..100).find(|nth| asks.left(f64::from(*nth) * 100.0) < 0.5);
        assert!(middle(&some) < middle(&all), "{some:?} {all:?}");
        assert!(
            all.left(0.0) > 0.99
                && all.left(f64::from(u32::try_from(all.last_ms()).unwrap())) < 0.01
        );
    }

    #[test]
    fn without_any_conditions_they_are_asking() {
        let next = Next { now_ms: 5, admitted: 0, ahead: 1.0..2.0 };
        assert!(Told::default().asks(&next).left(1.0) < 1e-9);
    }

    #[test]
    fn a_clock_that_was_set_back_begins_anew() {
        let (mut told, now_ms) = told(30, |_| 40);
        told.note(&RoomSnapshot { now_ms: now_ms - 20_000, ..snapshot(40, 0) });
        assert_eq!(told.0.len(), 1, "{told:?}");
    }

    #[test]
    fn what_was_told_long_ago_is_forgotten() {
        let (told, _) = told(100, |_| 40);
        assert!(told.0.len() <= 52, "{told:?}");
    }
}
