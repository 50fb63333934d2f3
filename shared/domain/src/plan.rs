//! The leader's tick: where the serving counter should stand, and how much chance is given. A pure
//! function of what a survey of the room saw; the scripts apply it. How each method decides is in
//! [`crate::method`].
//!
//! People run ahead of the free seats by a small standby group at the door, so that a seat that
//! frees up is taken within a second. They may, because the claim script counts seats itself and
//! lets nobody in over the limits.

use crate::{QueueingMethod, presence::Presence, slots::Usage};

/// How long, in ms, the word of the join script on how many it let through outweighs presence,
/// whose counts travel a little later.
const PROMISE_SETTLES_MS: u64 = 1_000;
/// The same for the leader's own word, while presence is incomplete: so long those whom it served
/// are given to show up, before others are served in their place.
const GATHERING_SETTLES_MS: u64 = 10_000;

/// A room as a survey saw it.
#[derive(Debug, Clone, Default)]
pub struct TickInput {
    /// Redis's time of the survey, ms.
    pub now_ms: u64,
    /// The method in force.
    pub method: QueueingMethod,
    /// The highest queue number handed out.
    pub queue_counter: u64,
    /// The serving counter.
    pub serving_counter: u64,
    /// Positions up to here have expired.
    pub expired_position: u64,
    /// Limits and their use.
    pub usage: Usage,
    /// Whether admissions are paused: the room is held or off, or waits for a draw.
    pub held: bool,
    /// Let through by the join script and not yet seated.
    pub promised: u64,
    /// When the join script, or the leader while presence was incomplete, last let someone through,
    /// ms.
    pub promised_at_ms: u64,
    /// Until when presence is incomplete because the store was just restored, or the line could
    /// not check in, ms; till then everyone in line counts as there.
    pub presence_incomplete_until_ms: u64,
    /// Sessions that ever began in this room.
    pub admitted: u64,
    /// Who has checked in when it was due.
    pub attending: Presence,
    /// Who is still there, hidden tabs included.
    pub there: Presence,
    /// AWS-style visitors who have not entered: they cannot check in.
    pub unattended: u64,
    /// Those who have won in a random room and have no seat yet.
    pub winners: u64,
    /// Of those who have won, how many are still expected to learn of it: see
    /// [`crate::tick::TickState`].
    pub winners_to_come: f64,
    /// When the rate lets the next one in, if its window is used up, ms.
    pub rate_resumes_at_ms: u64,
    /// Whether a whole crowd has fallen silent at once: see [`crate::tick::TickState`].
    pub silent: bool,
    /// How many of those who are there, hidden tabs included, may be served and without a seat;
    /// `None`: any number.
    pub most_served: Option<u64>,
}

/// What the tick decides.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plan {
    /// Where the serving counter should stand: never below where it was.
    pub serving_counter: u64,
    /// How many at or below it are still there and without a seat.
    pub promised: u64,
    /// How many are waiting in all: at the door and behind.
    pub waiting: u64,
    /// By how much the hazard rises, in units of [`crate::accrued_hazard::UNITS`].
    pub hazard_increase: u64,
    /// How many are expected to win by that.
    pub winners: f64,
}

/// Decides one tick. `standby` people are wanted at the door besides those whom a seat awaits:
/// see [`crate::wait::Pace::standby`].
#[must_use]
pub fn plan(survey: &TickInput, standby: u64) -> Plan {
    let still = survey.held || survey.silent;
    if still { Plan::stay(survey) } else { survey.method.rules().plan(survey, standby) }
}

// === impl Plan ===

impl Plan {
    /// Nothing moves.
    #[must_use]
    pub fn stay(survey: &TickInput) -> Self {
        Self {
            serving_counter: survey.serving_counter,
            promised: survey.at_door(),
            waiting: survey.waiting(),
            hazard_increase: 0,
            winners: 0.0,
        }
    }
}

// === impl TickInput ===

impl TickInput {
    /// How many should stand at the door: as many as there are slots, and the standby group.
    /// `None` for a room without limits, which only its operator advances.
    #[must_use]
    pub fn wanted_at_door(&self, standby: u64) -> Option<u64> {
        let slots = self.usage.paced_slots()?;
        let nobody = self.usage.ceiling == Some(0) || self.usage.rate == Some(0);
        Some(if nobody { 0 } else { slots + standby })
    }

    /// How many stand at the door: served, or winners, attending, and without a seat.
    #[must_use]
    pub fn at_door(&self) -> u64 {
        let served = self.attending.between(self.expired_position, self.serving_counter);
        let seen = whole(served) + self.winners;
        let complete = self.is_presence_complete();
        let settles_ms = if complete { PROMISE_SETTLES_MS } else { GATHERING_SETTLES_MS };
        let fresh = self.now_ms.saturating_sub(self.promised_at_ms) < settles_ms;
        if fresh { seen.max(self.promised) } else { seen }
    }

    /// Everyone waiting who is still there.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        let behind = if self.is_presence_complete() {
            whole(self.there.between(self.serving_counter, self.queue_counter))
        } else {
            self.queue_counter.saturating_sub(self.serving_counter)
        };
        let served = whole(self.there.between(self.expired_position, self.serving_counter));
        behind + self.at_door().max(served + self.winners)
    }

    /// Those behind the serving counter who check in.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "counts of people")]
    pub fn checking_in_behind(&self) -> f64 {
        let behind = self.there.between(self.serving_counter, self.queue_counter);
        (behind - self.unattended as f64).max(0.0)
    }

    /// Whether presence can be trusted to know everyone who is there.
    #[must_use]
    pub fn is_presence_complete(&self) -> bool {
        self.now_ms >= self.presence_incomplete_until_ms
    }

    /// How far the counter may go: not over everyone who is there and late, because it may be we who
    /// could not be reached.
    fn furthest(&self, end: u64) -> u64 {
        self.most_served.map_or(end, |most| self.there.reach(self.expired_position, most, end))
    }

    /// Moves the serving counter over so many people more, as far as the line reaches.
    #[must_use]
    pub fn serve_more(&self, people: u64) -> Plan {
        let from = self.serving_counter;
        let end = self.queue_counter.max(from);
        let serving_counter = if self.is_presence_complete() {
            self.attending.reach(from, people, end).min(self.furthest(end)).max(from)
        } else {
            from.saturating_add(people).min(end)
        };
        let more = if self.is_presence_complete() {
            whole(self.attending.between(from, serving_counter))
        } else {
            serving_counter - from
        };
        let stay = Plan::stay(self);
        Plan { serving_counter, promised: stay.promised + more, ..stay }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of people")]
fn whole(people: f64) -> u64 {
    people.round() as u64
}

#[cfg(test)]
pub(crate) mod test_support {
    use super::*;
    use crate::presence::Crowd;

    /// One visitor at each of these positions.
    pub(crate) fn everyone(numbers: impl IntoIterator<Item = u64>) -> Presence {
        let present = |number| Crowd { first: number, last: number, count: 1 };
        Presence::new(numbers.into_iter().map(present).collect(), u64::MAX)
    }

    /// A room where everyone who waits is there.
    pub(crate) fn room(ceiling: u64, active: u64, queue: u64, serving: u64) -> TickInput {
        TickInput {
            now_ms: 1_000_000,
            queue_counter: queue,
            serving_counter: serving,
            usage: Usage { ceiling: Some(ceiling), active, ..Usage::default() },
            attending: everyone(serving + 1..=queue),
            there: everyone(serving + 1..=queue),
            ..TickInput::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        test_support::{everyone, room},
        *,
    };

    #[test]
    fn a_held_room_stands_still_whatever_its_method() {
        for method in QueueingMethod::ALL {
            let survey = TickInput { held: true, method, ..room(100, 0, 50, 0) };
            let plan = plan(&survey, 36);
            assert_eq!((plan.serving_counter, plan.hazard_increase, plan.waiting), (0, 0, 50));
        }
    }

    #[test]
    fn nobody_far_back_is_served_because_all_in_front_are_late() {
        let late = TickInput { attending: everyone(500..=1000), ..room(10, 10, 1000, 20) };
        assert_eq!(plan(&late, 4).serving_counter, 503);
        let bounded = TickInput { most_served: Some(40), ..late };
        assert_eq!(plan(&bounded, 4).serving_counter, 60);
        let silent = TickInput { silent: true, ..bounded };
        assert_eq!(plan(&silent, 4).serving_counter, 20);
        let gone = TickInput { there: everyone(500..=1000), silent: false, ..silent };
        assert_eq!(plan(&gone, 4).serving_counter, 503, "those in front have gone");
    }

    #[test]
    fn while_presence_gathers_those_served_are_given_time_to_show_up() {
        let gathering = TickInput {
            presence_incomplete_until_ms: 1_060_000,
            attending: Presence::default(),
            ..room(10, 0, 500, 20)
        };
        let first = plan(&gathering, 2);
        assert_eq!((first.serving_counter, first.promised), (32, 12));
        let next = TickInput {
            now_ms: 1_009_000,
            serving_counter: 32,
            promised: 12,
            promised_at_ms: 1_000_000,
            ..gathering
        };
        assert_eq!(plan(&next, 2).serving_counter, 32, "they may be on their way");
        let later = TickInput { now_ms: 1_010_000, ..next };
        assert_eq!(plan(&later, 2).serving_counter, 44, "they are not: others are served");
    }

    #[test]
    fn each_method_decides_for_itself() {
        let decided = |method| plan(&TickInput { method, ..room(10, 0, 50, 0) }, 2);
        assert_eq!(decided(QueueingMethod::Fifo).serving_counter, 12);
        assert!(decided(QueueingMethod::Random).hazard_increase > 0);
        assert_eq!(decided(QueueingMethod::Reject).serving_counter, 0);
    }
}
