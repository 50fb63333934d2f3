//! Nobody asks in vain while there are seats for all who ask, and the ceiling is used.

use std::{collections::BTreeSet, sync::Arc};

use rustc_hash::FxHashMap;

use super::fifo_order::{asking, entering, kept_out};
use crate::{
    Event, Figures, Invariant, Rules, SnapshotSeen, What,
    check::{Check, Facts, Findings, Seen, Turn, Waits},
};

/// A snapshot is taken for the room's state for so long, ms.
const FRESH_MS: u64 = 2_000;

/// Seats do not stand empty while people ask for them.
///
/// Measured between snapshots, once people have been at the door (see [`super::fifo_order`]) for
/// `settling_ms` without a break: a seat is *wasted* while it is free and somebody at the door could have
/// it. The use is the part of the ceiling's seat-time that was not wasted. Only rooms that are limited
/// by a ceiling alone are measured, because with a rate seats are kept free on purpose.
///
/// A violation: somebody who asks all the time asks in vain, while for longer than `longest_vain_ms` every
/// snapshot showed at least as many free seats as people at the door, half the rate unused, and so few of them that
/// the rate, spread evenly, lets all in within half that time; and at the end, a use below `least_use`. Why: a waiting room that keeps people out of an empty site is an outage.
///
/// Not a violation: waiting in a room that is held, or turns people away, or whose snapshots do not
/// come; people who do not ask at the door; those whose networks have their seats, or whose
/// places are over, though somebody else has their tickets and asks on. The beginning and the end of a split begin
/// everything anew; while it lasts, only claims show on which side somebody asks.
#[derive(Debug, Clone, Default)]
pub(super) struct Liveness {
    /// Position → since when it asks, when it was last answered, and the first ask.
    door: FxHashMap<u64, (u64, u64, Arc<Event>)>,
    by_last: BTreeSet<(u64, u64)>,
    busy_since: Option<u64>,
    roomy_since: Option<u64>,
    last: Option<(u64, State)>,
    told: BTreeSet<u64>,
    measured_ms: u64,
    seat_ms: u64,
    wasted_ms: u64,
}

#[derive(Debug, Clone, Copy)]
struct State {
    ceiling: u64,
    wasted: u64,
}

// === impl Liveness ===

impl Check for Liveness {
    fn observe(&mut self, now: &Seen<'_>, facts: &Facts, found: &mut Findings<'_>) {
        if matches!(now.what, What::Visitor(_)) && facts.may_be_apart(now) {
            return;
        }
        if let Some(position) = asking(now) {
            if facts.is_over(position) {
                self.leaves_the_door(position);
                return;
            }
            self.ask(position, now, facts, found);
        } else if let Some((first, last)) = entering(now) {
            (first..=last).for_each(|position| self.leaves_the_door(position));
        } else if let Some(position) = kept_out(now) {
            self.leaves_the_door(position);
        } else if let What::Snapshot(seen) = &now.what {
            self.look(seen, now, facts);
        }
    }

    fn turn(&mut self, _turn: &Turn, _facts: &Facts) {
        self.door.clear();
        self.by_last.clear();
        (self.busy_since, self.roomy_since, self.last) = (None, None, None);
    }

    fn finish(&mut self, facts: &Facts, found: &mut Findings<'_>) {
        let used = used(self.wasted_ms, self.seat_ms);
        if let (Some(used), Some(least)) = (used, facts.bounds.least_use)
            && used < least
        {
            let what = format!("{:.2} % of the ceiling was used", used * 100.0);
            found.add(Invariant::Liveness, what, &[]);
        }
    }

    fn measure(&self, figures: &mut Figures, _waits: &mut Waits) {
        if let Some(own) = used(self.wasted_ms, self.seat_ms) {
            // The rooms' uses, by the time that each was measured.
            let (before, added) = (figures.measured_ms, self.measured_ms);
            let sum = figures.used.unwrap_or(0.0) * as_f64(before) + own * as_f64(added);
            figures.used = Some(sum / as_f64(before + added));
            figures.measured_ms += added;
        }
    }
}

impl Liveness {
    fn ask(&mut self, position: u64, now: &Seen<'_>, facts: &Facts, found: &mut Findings<'_>) {
        let attending_ms = facts.bounds.attending_ms;
        let known = self.door.remove(&position);
        if let Some((_, last, _)) = &known {
            self.by_last.remove(&(*last, position));
        }
        let known = known.filter(|(_, last, _)| now.began_ms <= last + attending_ms);
        let (since, last, first) = known.unwrap_or_else(|| (now.at_ms, now.at_ms, now.keep()));
        let last = last.max(now.at_ms);
        let fresh = self.last.is_some_and(|(at_ms, _)| at_ms + FRESH_MS >= now.began_ms);
        if let Some(roomy) = self.roomy_since.filter(|_| fresh) {
            let vain_ms = now.began_ms.saturating_sub(roomy.max(since));
            if vain_ms > facts.bounds.longest_vain_ms && self.told.insert(position) {
                let what =
                    format!("position {position} asks in vain for {vain_ms} ms before free seats");
                found.add(Invariant::Liveness, what, &[&first, now]);
            }
        }
        self.by_last.insert((last, position));
        self.door.insert(position, (since, last, first));
    }

    fn leaves_the_door(&mut self, position: u64) {
        if let Some((_, last, _)) = self.door.remove(&position) {
            self.by_last.remove(&(last, position));
        }
        self.told.remove(&position);
    }

    fn look(&mut self, seen: &SnapshotSeen, now: &Seen<'_>, facts: &Facts) {
        self.measure_until(now.at_ms, facts.bounds.settling_ms);
        let oldest = now.at_ms.saturating_sub(facts.bounds.attending_ms);
        while let Some(&(last, position)) = self.by_last.first()
            && last < oldest
        {
            self.leaves_the_door(position);
        }
        let asking = self.door.len() as u64;
        let rules = &seen.rules;
        let lets_in = !rules.held && !rules.open && !rules.rejects && asking > 0;
        let taken = seen.active + seen.unconfirmed;
        let free = rules.ceiling.map(|ceiling| ceiling.saturating_sub(taken));
        let in_time = |limit| limit * facts.bounds.longest_vain_ms / 2 / 60_000 >= asking;
        let is_paced = has_rate_left(rules, seen) && rules.per_minute.is_none_or(in_time);
        let roomy = lets_in && is_paced && free.is_none_or(|free| free >= asking);
        let roomy = roomy && (rules.ceiling.is_some() || rules.per_minute.is_some());
        keep_since(&mut self.roomy_since, roomy, now.at_ms);
        let measured =
            lets_in && rules.per_minute.is_none() && rules.ceiling.is_some_and(|c| c > 0);
        keep_since(&mut self.busy_since, measured, now.at_ms);
        let (ceiling, wasted) = (rules.ceiling.unwrap_or(0), free.unwrap_or(0).min(asking));
        self.last = Some((now.at_ms, State { ceiling, wasted }));
    }

    /// Counts the time since the last snapshot, if people have been at the door for long enough.
    fn measure_until(&mut self, now_ms: u64, settling_ms: u64) {
        let Some((at_ms, State { ceiling, wasted })) = self.last else { return };
        if self.busy_since.is_some_and(|since| at_ms >= since + settling_ms) {
            let ms = now_ms.saturating_sub(at_ms);
            self.measured_ms += ms;
            self.seat_ms += ms * ceiling;
            self.wasted_ms += ms * wasted;
        }
    }
}

fn keep_since(since: &mut Option<u64>, holds: bool, now_ms: u64) {
    *since = if holds { since.or(Some(now_ms)) } else { None };
}

fn has_rate_left(rules: &Rules, seen: &SnapshotSeen) -> bool {
    rules.per_minute.is_none_or(|limit| seen.admitted_last_minute * 2 < limit)
}

fn used(wasted_ms: u64, seat_ms: u64) -> Option<f64> {
    (seat_ms > 0).then(|| 1.0 - as_f64(wasted_ms) / as_f64(seat_ms))
}

#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn as_f64(ms: u64) -> f64 {
    ms as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Bounds, ClaimedAs,
        checks::testing::{EPOCH, History, claimed, put, rules, snapshot},
    };

    fn seats(active: u64, rules: Rules) -> What {
        What::Snapshot(SnapshotSeen { active, ..snapshot(9, rules) })
    }

    /// Position 5 asks every second from 1 s to `until` s; `active` of ten seats are taken.
    fn night(mut history: History, until: u64, active: u64, rules: &Rules) -> History {
        for second in 1..=until {
            history = history.does(second * 1000, claimed(5, ClaimedAs::NoSeat));
            history = history.does(second * 1000 + 500, seats(active, rules.clone()));
        }
        history
    }

    fn ten() -> Rules {
        Rules { ceiling: Some(10), ..rules() }
    }

    #[test]
    fn asking_in_vain_before_free_seats_is_found() {
        night(History::ruled(ten()), 21, 9, &ten()).holds();
        night(History::ruled(ten()), 30, 9, &ten()).breaks(Invariant::Liveness);
        night(History::ruled(ten()), 30, 10, &ten()).holds();
    }

    #[test]
    fn whose_place_is_over_asks_for_nothing() {
        let given_up = |position| What::GivenUp {
            reset_epoch: EPOCH,
            places: vec![(7, None)],
            positions: vec![position],
        };
        let shared = |over| {
            night(History::ruled(ten()).does(500, seats(9, ten())).does(600, over), 30, 9, &ten())
        };
        shared(given_up(5)).holds();
        shared(given_up(7)).breaks(Invariant::Liveness);
    }

    #[test]
    fn a_held_room_and_a_used_up_rate_let_nobody_in() {
        let held = Rules { held: true, ..ten() };
        night(History::ruled(held.clone()), 30, 9, &held).holds();
        let paced = Rules { per_minute: Some(0), ..ten() };
        night(History::ruled(paced.clone()), 30, 9, &paced).holds();
    }

    #[test]
    fn an_even_rate_lets_people_in_one_after_the_other() {
        let slow = Rules { per_minute: Some(5), ..ten() };
        night(History::ruled(slow.clone()), 30, 9, &slow).holds();
        let quick = Rules { per_minute: Some(6), ..ten() };
        night(History::ruled(quick.clone()), 30, 9, &quick).breaks(Invariant::Liveness);
    }

    #[test]
    fn the_use_of_the_ceiling_is_measured_once_it_is_settled() {
        let verdict = night(History::ruled(ten()), 20, 9, &ten()).finish();
        assert_eq!(verdict.figures.used, None);
        let bounds = Bounds { settling_ms: 5_000, least_use: Some(0.95), ..Bounds::default() };
        let history = History::with(bounds).does(0, put(Some(1), ten(), crate::PutAs::Created));
        let verdict = night(history, 20, 9, &ten()).finish();
        assert!((verdict.figures.used.unwrap() - 0.9).abs() < 1e-9, "one of ten stood empty");
        assert_eq!(verdict.figures.measured_ms, 14_000);
        assert_eq!(verdict.violations.len(), 1);
        assert_eq!(verdict.violations[0].invariant, Invariant::Liveness);
    }
}
