//! Events that are told in one order: those of a room, and each of a visitor's alone. A lane whose first event is not taken
//! is parked: it is tried again by itself, and the others go on. An event that is not taken for long enough, while others
//! are, is put aside.

use serde::{Deserialize, Serialize};

use super::{Cause, Delivery, Place, Retry, after_failure};

/// The most lanes that are parked. While there are so many, the webhook as a whole waits when another one fails.
pub const MOST_PARKED: usize = 64;
/// The most events that are remembered as given up.
const MOST_ASIDE: usize = 20;
/// After so many attempts an event is given up that is refused for what it is.
const REFUSALS: u32 = 6;

/// A lane that waits to be tried again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Parked {
    /// Up to where nothing of it is left to be told.
    pub after: Place,
    /// How many attempts in a row have failed to tell what comes first.
    pub failures: u32,
    /// When the first of these was, ms.
    pub since_ms: u64,
    /// When it is tried again, ms.
    pub next_at_ms: u64,
}

/// An event that a webhook is not told any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PutAside {
    /// The event's name.
    pub id: String,
    /// What happened.
    pub kind: String,
    /// The room; empty: none.
    pub room: String,
    /// When it was given up, ms.
    pub at_ms: u64,
    /// What was answered last.
    pub why: String,
}

/// An attempt to tell the first event of a lane, which has failed.
#[derive(Debug, Clone, Copy)]
pub struct Attempt<'a> {
    /// The lane.
    pub lane: &'a str,
    /// The place before the event, and the event's.
    pub after: &'a Place,
    /// See there.
    pub at: &'a Place,
    /// The event's name, its kind and its room.
    pub event: (&'a str, &'a str, &'a str),
    /// What that says.
    pub cause: Cause,
    /// What was answered, or why nothing was.
    pub why: &'a str,
    /// How long the receiver asks to be left alone, in seconds.
    pub asked_s: Option<u64>,
}

/// What follows from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The lane is tried again.
    Parked,
    /// There are too many of these: all wait.
    Full,
    /// The event was put aside, and the lane goes on.
    PutAside,
    /// Nothing was taken for a day: the webhook is to be switched off.
    GiveUp,
}

// === impl Parked ===

impl Parked {
    /// It has not failed.
    pub(super) fn forgive(&mut self) {
        (self.failures, self.since_ms, self.next_at_ms) = (0, 0, 0);
    }
}

// === impl Delivery ===

impl Delivery {
    /// Notes that a lane was told all up to `after`; `is_all`: nothing of it is left.
    pub fn went_on(&mut self, lane: &str, after: &Place, is_all: bool) {
        if is_all {
            self.parked.remove(lane);
        } else if let Some(parked) = self.parked.get_mut(lane).filter(|it| it.after != *after) {
            *parked = Parked { after: after.clone(), ..Parked::default() };
        }
    }

    /// Notes at `now_ms` that the first event of a lane was not taken. What was taken in between is noted before.
    pub fn fail_lane(&mut self, attempt: Attempt<'_>, now_ms: u64, chance: u64) -> Verdict {
        self.note_failure(now_ms, attempt.why);
        let is_full = self.parked.len() >= MOST_PARKED;
        if is_full && !self.parked.contains_key(attempt.lane) {
            return Verdict::Full;
        }
        let taken_ms = self.last_told_ms;
        let parked = self.parked.entry(attempt.lane.to_owned()).or_default();
        if parked.after != *attempt.after || parked.failures == 0 {
            let (after, since_ms) = (attempt.after.clone(), now_ms);
            *parked = Parked { after, since_ms, ..Parked::default() };
        }
        parked.failures += 1;
        let others_are_taken = taken_ms >= parked.since_ms;
        let is_refused = attempt.cause == Cause::Refused && parked.failures >= REFUSALS;
        match after_failure(parked.failures, attempt.asked_s, chance) {
            Retry::In(ms) if !(is_refused && others_are_taken) => {
                parked.next_at_ms = now_ms + ms;
                Verdict::Parked
            }
            Retry::GiveUp if !others_are_taken => Verdict::GiveUp,
            Retry::In(_) | Retry::GiveUp => {
                *parked = Parked { after: attempt.at.clone(), ..Parked::default() };
                self.put_aside(attempt, now_ms);
                Verdict::PutAside
            }
        }
    }

    fn put_aside(&mut self, attempt: Attempt<'_>, at_ms: u64) {
        let (id, kind, room) = attempt.event;
        let (id, kind, room) = (id.to_owned(), kind.to_owned(), room.to_owned());
        self.put_aside.push_back(PutAside { id, kind, room, at_ms, why: attempt.why.to_owned() });
        while self.put_aside.len() > MOST_ASIDE {
            self.put_aside.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::webhook::EventStream;
    use crate::webhook::delivery::tests::{place, webhook};

    /// Has the event at `nth` fail so often, a day apart from what was taken before; returns the last verdict.
    fn fail(delivery: &mut Delivery, cause: Cause, times: u32, takes_others: bool) -> Verdict {
        let (after, at) = (place(8), place(9));
        let event = ("msg_1", "alarm.firing", "sale");
        let mut verdict = Verdict::Full;
        for nth in 1..=u64::from(times) {
            if takes_others {
                delivery.succeed(100 + nth);
            }
            let (after, at) = (&after, &at);
            let (lane, why, asked_s) = ("sale", "it answered 400", None);
            let attempt = Attempt { lane, after, at, event, cause, why, asked_s };
            verdict = delivery.fail_lane(attempt, 100 + nth, 0);
        }
        verdict
    }

    #[test]
    fn what_is_refused_for_what_it_is_is_put_aside_while_others_are_taken() {
        let mut delivery = Delivery::begin(&webhook(), EventStream::Main);
        assert_eq!(fail(&mut delivery, Cause::Refused, 5, true), Verdict::Parked);
        assert_eq!((delivery.failed(), delivery.failures), (5, 0));
        assert!(delivery.tried_again_ms() > 200_000, "the webhook as a whole waits for nothing");
        assert_eq!(fail(&mut delivery, Cause::Refused, 1, true), Verdict::PutAside);
        assert_eq!(delivery.put_aside[0].id, "msg_1");
        assert_eq!(delivery.parked["sale"].after, place(9), "the lane goes on after it");
        delivery.went_on("sale", &place(12), true);
        assert!(delivery.parked.is_empty());
    }

    #[test]
    fn any_other_failure_is_tried_for_a_day() {
        let mut delivery = Delivery::begin(&webhook(), EventStream::Main);
        assert_eq!(fail(&mut delivery, Cause::Other, 12, true), Verdict::Parked);
        assert_eq!(fail(&mut delivery, Cause::Other, 1, true), Verdict::PutAside);
    }

    #[test]
    fn where_nothing_is_taken_no_event_is_to_blame() {
        let mut delivery = Delivery::begin(&webhook(), EventStream::Main);
        assert_eq!(fail(&mut delivery, Cause::Refused, 12, false), Verdict::Parked);
        assert_eq!(fail(&mut delivery, Cause::Refused, 1, false), Verdict::GiveUp);
        assert!(delivery.put_aside.is_empty());
    }

    #[test]
    fn who_has_gone_on_has_not_failed() {
        let mut delivery = Delivery::begin(&webhook(), EventStream::Main);
        let _ = fail(&mut delivery, Cause::Other, 3, true);
        delivery.went_on("sale", &place(8), false);
        assert_eq!(delivery.parked["sale"].failures, 3, "it stands where it stood");
        delivery.went_on("sale", &place(9), false);
        assert_eq!(delivery.parked["sale"], Parked { after: place(9), ..Parked::default() });
    }

    #[test]
    fn not_any_number_of_lanes_is_parked() {
        let mut delivery = Delivery::begin(&webhook(), EventStream::Main);
        for nth in 0..MOST_PARKED {
            delivery.parked.insert(format!("other-{nth}"), Parked::default());
        }
        assert_eq!(fail(&mut delivery, Cause::Other, 1, true), Verdict::Full);
        assert_eq!(delivery.parked.len(), MOST_PARKED);
    }
}
