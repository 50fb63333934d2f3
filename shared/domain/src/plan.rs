//! The decision of one tick: how far the serving counter moves, and how much the hazard of a random
//! room rises. A pure function of [`TickInput`]; the scripts apply its [`Plan`]. How each method
//! decides is in [`crate::method`].
//!
//! A small standby group is served beyond the free seats, so that a seat that becomes free is taken
//! within a second. This is safe because the claim script counts the seats itself and never exceeds
//! the limits.

use crate::{QueueingMethod, presence::Presence, slots::Usage};

/// For how long, in ms, the number of people that the join script let through outweighs presence,
/// where they are counted a little later.
const PROMISE_SETTLES_MS: u64 = 1_000;
/// The same for the people whom the leader served while presence was incomplete: so long they are
/// given to check in before others are served in their place.
const INCOMPLETE_SETTLES_MS: u64 = 10_000;

/// What a tick reads of a room, and what the leader adds from its memory.
#[derive(Debug, Clone, Default)]
pub struct TickInput {
    /// Redis's time, ms.
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
    /// Until when presence is incomplete, because the store was just restored or the line could not
    /// check in, ms. Until then everyone in line counts as there.
    pub presence_incomplete_until_ms: u64,
    /// Sessions that ever began in this room.
    pub admitted: u64,
    /// Visitors who checked in when it was due.
    pub attending: Presence,
    /// Visitors who are still there, hidden tabs included.
    pub there: Presence,
    /// AWS-style visitors who have not entered. They cannot check in.
    pub unattended: u64,
    /// Visitors who have won in a random room and have no seat yet.
    pub winners: u64,
    /// The expected number of visitors who have won and have not learned of it yet: see
    /// [`crate::tick::TickState`].
    pub winners_to_come: f64,
    /// When the rate limit admits the next one, if its window is used up, ms; else 0.
    pub rate_resumes_at_ms: u64,
    /// Whether a whole crowd stopped checking in at once: see [`crate::tick::TickState`].
    pub silent: bool,
    /// How many of the visitors there, hidden tabs included, may be served without a seat; `None`:
    /// any number.
    pub most_served: Option<u64>,
}

/// The decision of a tick.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plan {
    /// Where the serving counter should stand: never below where it was.
    pub serving_counter: u64,
    /// How many people at or below it are still there and without a seat.
    pub promised: u64,
    /// How many are waiting in all, served or not.
    pub waiting: u64,
    /// By how much the hazard rises, in units of [`crate::accrued_hazard::UNITS`].
    pub hazard_increase: u64,
    /// How many are expected to win by this increase.
    pub winners: f64,
}

/// Decides one tick. `standby` people should be served beyond the free seats: see
/// [`crate::wait::Pace::standby`].
#[must_use]
pub fn plan(input: &TickInput, standby: u64) -> Plan {
    let stays = input.held || input.silent;
    if stays { Plan::stay(input) } else { input.method.rules().plan(input, standby) }
}

// === impl Plan ===

impl Plan {
    /// Nothing moves.
    #[must_use]
    pub fn stay(input: &TickInput) -> Self {
        Self {
            serving_counter: input.serving_counter,
            promised: input.served_without_seat(),
            waiting: input.waiting(),
            hazard_increase: 0,
            winners: 0.0,
        }
    }
}

// === impl TickInput ===

impl TickInput {
    /// How many people should be served and without a seat: one per slot, and the standby group.
    /// `None` for a room without limits, which only its operator advances.
    #[must_use]
    pub fn wanted_served(&self, standby: u64) -> Option<u64> {
        let slots = self.usage.paced_slots()?;
        let closed = self.usage.ceiling == Some(0) || self.usage.rate == Some(0);
        Some(if closed { 0 } else { slots.saturating_add(standby) })
    }

    /// How many people are served, or have won, attend, and have no seat yet.
    #[must_use]
    pub fn served_without_seat(&self) -> u64 {
        let served = self.attending.between(self.expired_position, self.serving_counter);
        let counted = whole(served) + self.winners;
        let complete = self.is_presence_complete();
        let settles_ms = if complete { PROMISE_SETTLES_MS } else { INCOMPLETE_SETTLES_MS };
        let fresh = self.now_ms.saturating_sub(self.promised_at_ms) < settles_ms;
        if fresh { counted.max(self.promised) } else { counted }
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
        behind + self.served_without_seat().max(served + self.winners)
    }

    /// How many visitors beyond the serving counter check in.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "counts of people")]
    pub fn checking_in_behind(&self) -> f64 {
        let behind = self.there.between(self.serving_counter, self.queue_counter);
        (behind - self.unattended as f64).max(0.0)
    }

    /// Whether presence counts everyone who is there.
    #[must_use]
    pub fn is_presence_complete(&self) -> bool {
        self.now_ms >= self.presence_incomplete_until_ms
    }

    /// How far up to `end` the counter may go. It passes only a limited number of late visitors,
    /// because they may be late for the reason that the service cannot be reached.
    fn furthest(&self, end: u64) -> u64 {
        self.most_served.map_or(end, |most| self.there.reach(self.expired_position, most, end))
    }

    /// Moves the serving counter past `people` more, up to the end of the line.
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
            let input = TickInput { held: true, method, ..room(100, 0, 50, 0) };
            let plan = plan(&input, 36);
            assert_eq!((plan.serving_counter, plan.hazard_increase, plan.waiting), (0, 0, 50));
        }
    }

    #[test]
    fn a_standby_group_beyond_all_bounds_serves_everyone() {
        // As after hours without a leader, in which all sessions ended.
        assert_eq!(plan(&room(100, 0, 50, 0), u64::MAX).serving_counter, 50);
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
    fn while_presence_is_incomplete_served_people_are_given_time_to_check_in() {
        let incomplete = TickInput {
            presence_incomplete_until_ms: 1_060_000,
            attending: Presence::default(),
            ..room(10, 0, 500, 20)
        };
        let first = plan(&incomplete, 2);
        assert_eq!((first.serving_counter, first.promised), (32, 12));
        let next = TickInput {
            now_ms: 1_009_000,
            serving_counter: 32,
            promised: 12,
            promised_at_ms: 1_000_000,
            ..incomplete
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
