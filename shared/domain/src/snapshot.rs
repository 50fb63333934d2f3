//! What every service knows about a room at one moment: enough to answer a waiting visitor
//! without asking anyone. Made by the leader, pushed to all.

use serde::{Deserialize, Serialize};

use crate::{RoomId, RoomSettings, presence::Presence};

/// A room at one moment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RoomSnapshot {
    /// Which room.
    pub room: RoomId,
    /// Its settings.
    pub settings: RoomSettings,
    /// Counts resets: ids of another epoch are invalid.
    pub reset_epoch: u64,
    /// Counts restorations after the store was lost.
    pub generation: u32,
    /// Redis's time, ms.
    pub now_ms: u64,
    /// The highest queue number handed out.
    pub queue_counter: u64,
    /// Everyone whose position is at or below it may enter. An operator's negative increments may
    /// bring it below zero.
    pub serving_counter: i64,
    /// Sessions that ever began in this room since the reset.
    pub admitted: u64,
    /// Live sessions.
    pub active: u64,
    /// Seats that a lost store may still owe to holders not seen again.
    pub phantom: u64,
    /// Positions that expired without entering.
    pub expired: u64,
    /// Numbers skipped over when the store had lost its last writes: nobody holds them.
    pub skipped: u64,
    /// Positions up to here have expired.
    pub expired_position: u64,
    /// Admissions in the last 60 seconds.
    pub admitted_last_minute: u64,
    /// When the last AWS-style token expires, unix seconds; 0: there is none.
    pub tokens_until: u64,
    /// What the leader's last tick found.
    pub figures: Figures,
}

/// What only the leader can tell, from presence and from the pace of the last seconds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Figures {
    /// Everyone waiting who is still there.
    pub waiting: u64,
    /// Admissions per second, smoothed.
    pub admissions_per_second: f64,
    /// Of those, visitors of AWS-style clients, who cannot check in.
    pub unattended: u64,
    /// Points (queue number, people still there up to it), rising; between them, in proportion.
    pub ahead: Vec<(u64, u64)>,
}

/// Points of the curve of people ahead: enough for a few per cent everywhere.
const CURVE_POINTS: usize = 48;

// === impl RoomSnapshot ===

impl RoomSnapshot {
    /// The serving counter as a position: never below zero.
    #[must_use]
    pub fn serving(&self) -> u64 {
        u64::try_from(self.serving_counter).unwrap_or(0)
    }

    /// Where `queue_number` stands.
    #[must_use]
    pub fn position(&self, queue_number: u64) -> u64 {
        self.settings.queueing_method.position(queue_number)
    }

    /// Whether a newcomer would have to wait.
    #[must_use]
    pub fn is_queueing(&self) -> bool {
        let positions = i64::try_from(self.queue_counter).unwrap_or(i64::MAX);
        !self.settings.suspended && positions > self.serving_counter
    }

    /// Everyone who holds a number, has not entered and has not expired, as AWS-style clients
    /// count: whether still there or not.
    #[must_use]
    pub fn numbers_waiting(&self) -> i64 {
        let signed = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        signed(self.queue_counter) - signed(self.skipped + self.admitted + self.expired)
    }

    /// Everyone waiting who is still there: as of the last tick, and the newcomers since.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        let (last, total) = self.figures.ahead.last().copied().unwrap_or((self.serving(), 0));
        total + self.queue_counter.saturating_sub(last.max(self.serving()))
    }

    /// Seconds since 1970.
    #[must_use]
    pub fn now_seconds(&self) -> u64 {
        self.now_ms / 1000
    }

    /// People still there and ahead of `position`, who has not entered.
    #[must_use]
    pub fn people_ahead(&self, position: u64) -> u64 {
        let ahead = position.saturating_sub(1);
        // Beyond the last point are newcomers of the last moments, of whom nobody has left yet.
        let (last, total) = self.figures.ahead.last().copied().unwrap_or((self.serving(), 0));
        if ahead >= last { total + (ahead - last) } else { self.figures.people_upto(ahead) }
    }
}

// === impl Figures ===

impl Figures {
    /// Draws the curve of people ahead, for a line of `presence` up to `queue_counter` behind
    /// `serving`; `door` people stand at or below the serving counter.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts of people")]
    pub fn curve(
        presence: &Presence,
        door: u64,
        serving: u64,
        queue_counter: u64,
    ) -> Vec<(u64, u64)> {
        let length = queue_counter.saturating_sub(serving);
        let mut curve = vec![(serving, door)];
        for number in points(length).map(|distance| serving + distance) {
            if number > curve[curve.len() - 1].0 {
                curve.push((number, door + presence.between(serving, number).round() as u64));
            }
        }
        curve
    }

    fn people_upto(&self, number: u64) -> u64 {
        let next = self.ahead.partition_point(|(point, _)| *point < number);
        let (Some(&(high, above)), Some(&(low, below))) =
            (self.ahead.get(next), next.checked_sub(1).and_then(|before| self.ahead.get(before)))
        else {
            // At or before the first point: the door. Who stands there is not told apart.
            return self.ahead.first().map_or(0, |(_, people)| *people);
        };
        below + (above - below) * (number - low) / (high - low)
    }
}

/// Distances from the door: dense near it, then growing by a constant factor up to `length`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "distances in people, within 36 bits"
)]
fn points(length: u64) -> impl Iterator<Item = u64> {
    let growth = (length.max(1) as f64).powf(1.0 / CURVE_POINTS as f64);
    let distance = move |point: usize| growth.powf(point as f64).round() as u64;
    (0..CURVE_POINTS).map(distance).map(move |d| d.min(length)).chain([length])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::presence::Crowd;

    fn snapshot(queue: u64, serving: i64, figures: Figures) -> RoomSnapshot {
        RoomSnapshot {
            room: "r".parse().unwrap(),
            settings: RoomSettings::default(),
            reset_epoch: 1,
            generation: 1,
            now_ms: 0,
            queue_counter: queue,
            serving_counter: serving,
            admitted: 0,
            active: 0,
            phantom: 0,
            expired: 0,
            skipped: 0,
            tokens_until: 0,
            expired_position: 0,
            admitted_last_minute: 0,
            figures,
        }
    }

    fn every_second_visitor(serving: u64, queue: u64) -> Presence {
        let there = (serving + 1..=queue).filter(|number| number % 2 == 0);
        let one = |n| Crowd { first: n, last: n, count: 1 };
        Presence::new(there.map(one).collect(), queue)
    }

    #[test]
    fn counts_only_those_still_there() {
        let presence = every_second_visitor(100, 10_100);
        let ahead = Figures::curve(&presence, 7, 100, 10_100);
        assert!(ahead.len() <= CURVE_POINTS + 2);
        let room = snapshot(10_100, 100, Figures { ahead, ..Figures::default() });
        for (position, truth) in [(101, 7), (121, 17), (1_101, 507), (9_101, 4_507)] {
            let told = room.people_ahead(position);
            assert!(told.abs_diff(truth) <= truth / 20 + 1, "{position}: {told} for {truth}");
        }
        let newcomer = room.people_ahead(10_105);
        assert_eq!(newcomer, 5_007 + 4, "newcomers since the last tick are there");
    }

    #[test]
    fn without_figures_everyone_is_there() {
        let room = snapshot(50, 10, Figures::default());
        assert_eq!(room.people_ahead(11), 0);
        assert_eq!(room.people_ahead(31), 20);
        assert_eq!(room.people_ahead(5), 0);
    }

    #[test]
    fn queueing_is_a_line_longer_than_the_counter() {
        assert!(snapshot(11, 10, Figures::default()).is_queueing());
        assert!(!snapshot(10, 10, Figures::default()).is_queueing());
        assert!(snapshot(0, -3, Figures::default()).is_queueing());
        assert_eq!(snapshot(0, -3, Figures::default()).serving(), 0);
    }
}
