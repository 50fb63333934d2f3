//! The decision of one tick: how far the serving counter moves, and how much the hazard of a random
//! room rises. A pure function of [`TickInput`]; the scripts apply its [`Plan`]. How each method
//! decides is in [`crate::method`].
//!
//! A small standby group is served beyond the free seats, so that a seat that becomes free is taken
//! within a second. This is safe because the claim script counts the seats itself and never exceeds
//! the limits.

use crate::{
    QueueingMethod,
    presence::Presence,
    serving::{Line, Periods, Serving},
    slots::Usage,
    wait::{STANDBY_MS, Standby},
};

/// What a tick reads of a room, and what the leader adds from its memory.
#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
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
    /// Sessions that ever began in this room.
    pub admitted: u64,
    /// Numbers handed out to AWS-style visitors,
    pub aws_joined: u64,
    /// and sessions of theirs.
    pub aws_admitted: u64,
    /// Newcomers who were kept out because their network had its seats. Nobody waits for them.
    pub kept_out: u64,
    /// Visitors who are known to be there.
    pub there: Presence,
    /// Visitors of whom nobody knows whether they are there.
    pub unknown: Presence,
    /// AWS-style visitors who have not entered. They cannot win in a random room.
    pub unattended: u64,
    /// How many of them are known to be there, beyond the serving counter.
    pub unattended_there: f64,
    /// How many of them are known to be there, served or not.
    pub unattended_asking: f64,
    /// Whether everyone who is there had the time to check in, since the store was restored or the line
    /// could not.
    pub is_presence_complete: bool,
    /// Whether every number has entered, left or expired, as the store knows.
    pub nobody_waits: bool,
    /// Whether the line was counted to its end. A new leader counts it piece by piece.
    pub is_counted: bool,
    /// How many stand at the door: they keep asking for a seat.
    pub at_door: u64,
    /// Some of them, as position and how many of them stand before it, in order.
    pub door: Vec<(u64, u64)>,
    /// How many ever came to the door, of those known to be there,
    pub came_known: u64,
    /// of others,
    pub came_unknown: u64,
    /// and how long after they were served these others came, all together, ms.
    pub came_after_ms: u64,
    /// When somebody in the room was last heard, ms.
    pub heard_at_ms: u64,
    /// Promised a seat by the last plan, and by the join script since.
    pub promised: u64,
    /// The expected number of visitors who have won and have not learned of it yet: see
    /// [`crate::tick::TickState`].
    pub winners_to_come: f64,
    /// When the rate limit admits the next one, if its window is used up, ms; else 0.
    pub rate_resumes_at_ms: u64,
    /// How many more the even spread of the rate lets in now; `None`: there is no rate.
    pub spread_left: Option<u64>,
    /// What AWS-style clients were shown, where the serving counter follows the seats.
    pub follows: Option<Followed>,
    /// Whether a whole crowd fell silent at once: see [`crate::tick::TickState`].
    pub is_silent: bool,
    /// Within what time those who are served ask.
    pub periods: Periods,
}

/// What was shown in a room by the time of a tick.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Followed {
    /// Up to where clients are told that their turn has come.
    pub shown: u64,
    /// For how many people seats are kept.
    pub awaited: f64,
}

/// The decision of a tick.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plan {
    /// Where the serving counter should stand: never below where it was.
    pub serving_counter: u64,
    /// How many people are served and may still take a seat: those at the door, and those expected.
    pub promised: u64,
    /// How many are waiting in all, served or not.
    pub waiting: u64,
    /// By how much the hazard rises, in units of [`crate::accrued_hazard::UNITS`].
    pub hazard_increase: u64,
    /// How many are expected to win by this increase.
    pub winners: f64,
    /// Up to where AWS-style clients are shown that their turn has come; `None`: up to the serving counter.
    pub shown: Option<u64>,
}

/// Decides one tick. `standby` should be served beyond the free seats; `serving` is what was learnt of
/// who comes, and learns who is served now.
#[must_use]
pub fn plan(input: &TickInput, standby: Standby, serving: &mut Serving) -> Plan {
    let stays = input.held || input.is_silent || !input.is_counted;
    if stays {
        return Plan::stay(input, serving);
    }
    input.method.rules().plan(input, standby, serving)
}

// === impl Plan ===

impl Plan {
    /// Nothing moves.
    #[must_use]
    pub fn stay(input: &TickInput, serving: &Serving) -> Self {
        let awaited = input.follows.map_or(0.0, |follows| follows.awaited);
        Self {
            serving_counter: input.serving_counter,
            promised: whole(input.at_or_near_door(serving).max(awaited)),
            waiting: input.waiting(serving),
            hazard_increase: 0,
            winners: 0.0,
            shown: input.follows.map(|follows| follows.shown),
        }
    }
}

// === impl TickInput ===

impl TickInput {
    /// How many people should be at the door: one per slot, and `standby`. `None` for a room without
    /// limits, which only its operator advances. While the rate's window is used up, nobody is called
    /// sooner than it takes to come.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "counts of people")]
    pub fn wanted_at_door(&self, standby: f64) -> Option<f64> {
        let slots = self.usage.paced_slots()?;
        let closed = self.usage.ceiling == Some(0) || self.usage.rate == Some(0);
        let is_early =
            self.rate_resumes_at_ms > self.now_ms + STANDBY_MS + self.periods.known.last_ms();
        Some(if closed || is_early { 0.0 } else { slots as f64 + standby })
    }

    /// How many people stand at the door, or were served and are expected there.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "counts of people")]
    pub fn at_or_near_door(&self, serving: &Serving) -> f64 {
        self.at_door as f64 + serving.expected()
    }

    /// Everyone waiting who is still there, and as many of the others as are likely to be.
    #[must_use]
    pub fn waiting(&self, serving: &Serving) -> u64 {
        let line = self.line();
        let behind = line.there.between(line.from, line.end)
            + line.unknown.between(line.from, line.end) * serving.unknown.share();
        let mut served = self.there.between(self.expired_position, self.serving_counter);
        if !self.is_presence_complete {
            served += self.unknown.between(self.expired_position, self.serving_counter);
        }
        // Where there is no order, those at the door are among those behind the counter.
        let is_ordered = self.method.rules().is_ordered();
        let at_door = if is_ordered { self.at_or_near_door(serving) } else { 0.0 };
        whole(behind + at_door.max(served))
    }

    /// How many visitors ask when they are told to: those who check in, and while presence is incomplete,
    /// perhaps everyone.
    #[must_use]
    pub fn polling(&self, serving: &Serving) -> u64 {
        if !self.is_presence_complete {
            return self.waiting(serving);
        }
        let there = self.there.between(self.expired_position, self.queue_counter);
        whole((there - self.unattended_asking).max(0.0))
    }

    /// How many visitors of a random room can win: they check in, and have not won. While presence is
    /// incomplete, everyone in line may be among them.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "counts of people")]
    pub fn who_can_win(&self) -> f64 {
        let between = |people: &Presence| people.between(self.serving_counter, self.queue_counter);
        let unheard = if self.is_presence_complete { 0.0 } else { between(&self.unknown) };
        (between(&self.there) - self.unattended_there + unheard - self.at_door as f64).max(0.0)
    }

    /// The line beyond its serving counter.
    #[must_use]
    pub fn line(&self) -> Line<'_> {
        Line {
            from: self.serving_counter,
            end: self.queue_counter.max(self.serving_counter),
            there: &self.there,
            unknown: &self.unknown,
            heard_at_ms: self.heard_at_ms,
        }
    }

    /// Serves everyone who is in line now.
    #[must_use]
    pub fn serve_everyone(&self, serving: &mut Serving) -> Plan {
        let line = self.line();
        serving.expose(&line, line.from, line.end, self.now_ms, self.periods);
        Plan { serving_counter: line.end, ..Plan::stay(self, serving) }
    }

    /// Serves as far as `need` more people are expected to come.
    #[must_use]
    pub fn serve(&self, need: f64, serving: &mut Serving) -> Plan {
        let waiting = self.waiting(serving);
        let serving_counter = serving.serve(&self.line(), need, self.now_ms, self.periods);
        Plan { serving_counter, waiting, ..Plan::stay(self, serving) }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of people")]
pub(crate) fn whole(people: f64) -> u64 {
    people.round() as u64
}

#[cfg(test)]
pub(crate) mod test_support {
    use super::*;
    use crate::presence::Crowd;

    /// One visitor at each of these positions.
    pub(crate) fn everyone(numbers: impl IntoIterator<Item = u64>) -> Presence {
        let present = |number| Crowd { first: number, last: number, count: 1.0 };
        Presence::new(&numbers.into_iter().map(present).collect::<Vec<_>>())
    }

    /// A room where everyone who waits is there.
    pub(crate) fn room(ceiling: u64, active: u64, queue: u64, serving: u64) -> TickInput {
        TickInput {
            now_ms: 1_000_000,
            heard_at_ms: 1_000_000,
            queue_counter: queue,
            serving_counter: serving,
            usage: Usage { ceiling: Some(ceiling), active, ..Usage::default() },
            there: everyone(serving + 1..=queue),
            is_counted: true,
            is_presence_complete: true,
            ..TickInput::default()
        }
    }

    /// So many who stand by.
    pub(crate) fn standby(people: f64) -> Standby {
        Standby { steady: people, burst: 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        test_support::{room, standby},
        *,
    };
    use crate::ripening::Ripening;

    fn decided(input: &TickInput, by: f64) -> Plan {
        plan(input, standby(by), &mut Serving::default())
    }

    #[test]
    fn a_held_room_stands_still_whatever_its_method() {
        for method in QueueingMethod::ALL {
            let input = TickInput { held: true, method, ..room(100, 0, 50, 0) };
            let plan = decided(&input, 36.0);
            assert_eq!((plan.serving_counter, plan.hazard_increase, plan.waiting), (0, 0, 50));
        }
    }

    #[test]
    fn a_silent_room_and_one_that_is_not_counted_yet_stand_still() {
        let silent = TickInput { is_silent: true, ..room(100, 0, 50, 0) };
        assert_eq!(decided(&silent, 1.0).serving_counter, 0);
        let uncounted = TickInput { is_counted: false, ..room(100, 0, 50, 0) };
        assert_eq!(decided(&uncounted, 1.0).serving_counter, 0);
    }

    #[test]
    fn a_standby_group_beyond_all_bounds_serves_everyone() {
        // As after hours without a leader, in which all sessions ended.
        assert_eq!(decided(&room(100, 0, 50, 0), f64::MAX).serving_counter, 50);
    }

    #[test]
    fn whoever_is_served_and_expected_needs_no_other_in_its_place() {
        let mut serving = Serving::default();
        let input = TickInput {
            periods: Periods { known: Ripening::evenly(0..1_000), unknown_ms: 1_000 },
            ..room(10, 0, 50, 0)
        };
        let first = plan(&input, standby(2.0), &mut serving);
        assert_eq!((first.serving_counter, first.promised, first.waiting), (12, 12, 50));
        let next = TickInput { serving_counter: 12, ..input };
        assert_eq!(plan(&next, standby(2.0), &mut serving).serving_counter, 12);
        let at_door = TickInput { at_door: 12, now_ms: 1_001_000, came_known: 12, ..next };
        serving.observe(crate::serving::Came { known: 12.0, ..Default::default() }, 1_001_000);
        assert_eq!(plan(&at_door, standby(2.0), &mut serving).serving_counter, 12);
    }

    #[test]
    fn each_method_decides_for_itself() {
        let decided = |method| decided(&TickInput { method, ..room(10, 0, 50, 0) }, 2.0);
        assert_eq!(decided(QueueingMethod::Fifo).serving_counter, 12);
        assert!(decided(QueueingMethod::Random).hazard_increase > 0);
        assert_eq!(decided(QueueingMethod::Reject).serving_counter, 0);
    }
}
