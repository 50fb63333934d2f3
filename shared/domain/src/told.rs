//! When those who are next ask again. Each asks when it was told to; and it was told so when it was farther
//! away, the pace perhaps another, and it itself perhaps a newcomer.

use std::collections::VecDeque;

use crate::{
    QueueingMethod, RoomSnapshot,
    check_in::{self, LineConditions},
    ripening::{Part, Ripening},
};

/// Whoever is next was told its interval within about this time, ms,
const KEPT_MS: u64 = 25_000;
/// by conditions that are noted this often, ms.
const EVERY_MS: u64 = 1_000;

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
    conditions: LineConditions,
}

/// Those who are next.
#[derive(Debug, Clone, Copy)]
pub struct Next {
    /// The time, ms.
    pub now_ms: u64,
    /// How many sessions began so far.
    pub admitted: u64,
    /// How many people are ahead of those who are next.
    pub ahead: u64,
    /// By what method.
    pub method: QueueingMethod,
}

/// Those who were told at one moment: when they were, and after how long they ask again, ms.
#[derive(Debug, Clone, Copy)]
struct Cohort {
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
        if self.0.back().is_some_and(|last| now_ms < last.now_ms + EVERY_MS) {
            return;
        }
        while self.0.front().is_some_and(|first| first.now_ms + KEPT_MS < now_ms) {
            self.0.pop_front();
        }
        let conditions = snapshot.line_conditions(None, now_ms, snapshot.progress());
        self.0.push_back(Moment { now_ms, admitted, waiting: snapshot.waiting(), conditions });
    }

    /// When those who are next ask, from now on.
    ///
    /// Followed from when they joined: all of them were told then, and whoever asks again at a later moment is
    /// told again, by that moment's conditions. Who stood in line before the first moment asks at any time
    /// within its interval.
    #[must_use]
    pub fn asks(&self, next: &Next) -> Ripening {
        let cohorts = self.cohorts(next);
        let mut shares = vec![0.0; cohorts.len()];
        let mut to_come = Vec::with_capacity(cohorts.len());
        if let Some(first) = shares.first_mut() {
            *first = 1.0;
        }
        for (nth, cohort) in cohorts.iter().enumerate() {
            let asking = cohort.asking(shares[nth]);
            for (later, share) in cohorts.iter().zip(&mut shares).skip(nth + 1) {
                *share += asking.between(later.from, later.until);
            }
            to_come.extend(asking.from(0.0));
        }
        Ripening::of(&to_come)
    }

    /// Who of those who are next was told something, since they joined; times are before and after now.
    #[expect(clippy::cast_precision_loss, reason = "times of seconds")]
    fn cohorts(&self, next: &Next) -> Vec<Cohort> {
        let ahead = |then: &Moment| next.ahead + next.admitted.saturating_sub(then.admitted);
        // Who was in line when the next conditions were noted had joined by then.
        let had_joined = |then: &Moment| ahead(then) <= then.waiting;
        let joined = self.0.iter().position(had_joined);
        let first = joined.unwrap_or(self.0.len()).saturating_sub(1);
        let stood = joined == Some(0);
        let since_now = |ms: u64| -(next.now_ms.saturating_sub(ms) as f64);
        let cohort = |nth: usize| {
            let moment = &self.0[nth];
            let conditions = LineConditions { people_ahead: ahead(moment), ..moment.conditions };
            let interval_ms = |spread| check_in::interval_ms(next.method, &conditions, spread);
            let (soonest, latest) = (interval_ms(0.0), interval_ms(1.0));
            let from = since_now(moment.now_ms);
            Cohort {
                // They were told at any time within an interval if they stood there before.
                from: if stood && nth == 0 { from - f64::from(soonest) } else { from },
                until: self.0.get(nth + 1).map_or(0.0, |then| since_now(then.now_ms)),
                soonest: soonest.into(),
                latest: latest.into(),
            }
        };
        (first..self.0.len()).map(cohort).collect()
    }
}

// === impl Cohort ===

impl Cohort {
    /// When its people ask again, who are this share of all: never before the moment is over.
    fn asking(&self, share: f64) -> Part {
        let first_ms = (self.from + self.soonest).max(self.until);
        Part { share, first_ms, last_ms: self.until + self.latest }
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

    fn asks(told: &(Told, u64), ahead: u64) -> Ripening {
        let admitted = told.1 / 100;
        told.0.asks(&Next { now_ms: told.1, admitted, ahead, method: QueueingMethod::Fifo })
    }

    #[test]
    fn those_near_the_front_ask_within_a_second_or_so() {
        let asks = asks(&told(60, |_| 40), 20);
        assert!(asks.left(0.0) > 0.99 && asks.left(1_200.0) < 0.05, "{asks:?}");
        assert!((0.4..0.65).contains(&asks.left(500.0)), "evenly: {asks:?}");
    }

    #[test]
    fn those_who_were_far_away_a_moment_ago_ask_when_they_were_told_to_then() {
        // A hundred seconds' worth of people: told to ask in ten seconds, and now they are next.
        let asks = asks(&told(60, |_| 3_000), 1_000);
        assert!((8_500..=12_600).contains(&asks.last_ms()), "{asks:?}");
        assert!((0.3..0.7).contains(&asks.left(5_000.0)), "{asks:?}");
        assert!(asks.left(500.0) > 0.85, "{asks:?}");
    }

    #[test]
    fn whoever_joined_a_moment_ago_asks_after_its_first_interval() {
        let crowd = told(3, |second| if second == 0 { 0 } else { 3_000 });
        let asks = asks(&crowd, 1_000);
        assert!(asks.left(5_000.0) > 0.99, "told to ask in ten seconds, two ago: {asks:?}");
        assert!(asks.left(11_000.0) < 0.01, "{asks:?}");
    }

    #[test]
    fn without_any_conditions_they_are_asking() {
        let next = Next { now_ms: 5, admitted: 0, ahead: 1, method: QueueingMethod::Fifo };
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
        assert!(told.0.len() <= 27, "{told:?}");
    }
}
