//! What every service knows about a room at one moment: enough to answer a waiting visitor without
//! any further call. The leader makes it and sends it to all services.

mod figures;
mod line;

use serde::{Deserialize, Serialize};

pub use self::figures::TickFigures;
use crate::{
    Draw, Lineage, RoomId, RoomSettings, Stamp, check_in::LineConditions,
    formats::known_whole_snapshot, presence::Spot, schedule::EventInForce, slots::Usage,
    wait::Estimate,
};

/// A room at one moment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RoomSnapshot {
    /// Which room.
    pub room: RoomId,
    /// The settings in force: the room's own, with those of an event over them.
    pub settings: RoomSettings,
    /// The version of its format: see [`crate::Formats`].
    #[serde(default, deserialize_with = "known_whole_snapshot")]
    pub format: u32,
    /// The digest of all that [`crate::Difference`]s from it leave out; empty: it is of a release without them.
    #[serde(default)]
    pub basis: String,
    /// The event in force.
    #[serde(default)]
    pub event: Option<EventInForce>,
    /// The draws since the reset, oldest first.
    #[serde(default)]
    pub draws: Vec<Draw>,
    /// The first number that waits for a draw; 0: none does.
    #[serde(default)]
    pub pool_first: u64,
    /// The last number that waits for it; 0: more may come.
    #[serde(default)]
    pub pool_last: u64,
    /// The hazard that everyone there has been given: see [`crate::accrued_hazard`].
    #[serde(default)]
    pub cumulative_hazard: u64,
    /// Until when the line could not check in, ms: that time does not count as absence.
    #[serde(default)]
    pub excused_until_ms: u64,
    /// The version of the room's settings and events.
    #[serde(default)]
    pub config_version: u64,
    /// Counts resets: ids of another epoch are invalid.
    pub reset_epoch: u64,
    /// Counts restorations after the store was lost.
    pub generation: u32,
    /// Names this generation: see [`Stamp`].
    #[serde(default)]
    pub nonce: String,
    /// Which states of the same reset epoch it follows from; `None`: a release that does not say it began this one.
    #[serde(default)]
    pub follows: Option<Lineage>,
    /// Counts the calls that may have changed the room: see [`Stamp`].
    #[serde(default)]
    pub seq: u64,
    /// Redis's time, ms.
    pub now_ms: u64,
    /// The highest queue number handed out.
    pub queue_counter: u64,
    /// Positions up to it may enter. Negative increments of an operator may bring it below zero.
    pub serving_counter: i64,
    /// Sessions that ever began in this room since the reset.
    pub admitted: u64,
    /// Live sessions.
    pub active: u64,
    /// Seats that may still be owed to holders from before the store was lost, until they return.
    pub unconfirmed: u64,
    /// Until when these count as taken, ms. An older release does not say it.
    #[serde(default)]
    pub unconfirmed_until: u64,
    /// Positions that expired without entering.
    pub expired: u64,
    /// Places that were given back.
    #[serde(default)]
    pub left: u64,
    /// Numbers that were skipped when the store had lost its last writes: nobody holds them.
    pub skipped: u64,
    /// Those of them that are known: the first and the last of each part. Whoever has one after all, of whom nobody
    /// knew, is heard when it checks in.
    #[serde(default)]
    pub left_out: Vec<(u64, u64)>,
    /// Positions up to here have expired.
    pub expired_position: u64,
    /// Admissions in the last 60 seconds.
    pub admitted_last_minute: u64,
    /// When the last AWS-style token expires, unix seconds; 0: there is none.
    pub tokens_until: u64,
    /// The services that were there when Redis went back, and have not said what they had seen.
    #[serde(default)]
    pub awaits: Vec<String>,
    /// Whether the room rests: see [`crate::rest`]. Then snapshots come seldom.
    #[serde(default)]
    pub rests: bool,
    /// The figures of the last tick.
    pub figures: TickFigures,
}

/// A room's counters. The answering service may know higher ones than the last snapshot has,
/// because it numbered or admitted newcomers itself since then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// The highest queue number handed out.
    pub queue_counter: u64,
    /// Sessions that ever began.
    pub admitted: u64,
}

/// What a visitor in line can be told.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outlook {
    /// The position in the line; `None` before its draw, and where there is no order.
    pub position: Option<u64>,
    /// People still there who enter before it; `None` as for the position.
    pub people_ahead: Option<u64>,
    /// How long it will take.
    pub wait: Estimate,
}

// === impl RoomSnapshot ===

impl RoomSnapshot {
    /// What AWS-style clients call the room: its `aws_event_id`, or else its name.
    #[must_use]
    pub fn event_id(&self) -> &str {
        self.settings.aws_event_id.as_deref().unwrap_or(self.room.as_str())
    }

    /// Which state of the room it shows.
    #[must_use]
    pub fn stamp(&self) -> Stamp {
        let (reset_epoch, generation, seq) = (self.reset_epoch, self.generation, self.seq);
        Stamp { reset_epoch, generation, nonce: self.nonce.clone(), seq }
    }

    /// Whether it says so: whoever writes in a room counts it, so only a release without stamps has counted nothing.
    #[must_use]
    pub fn is_stamped(&self) -> bool {
        self.seq > 0
    }

    /// The serving counter as a position: never below zero.
    #[must_use]
    pub fn serving(&self) -> u64 {
        u64::try_from(self.serving_counter).unwrap_or(0)
    }

    /// The position up to which AWS-style clients may enter: in a room that lets everyone in, the
    /// end of the line.
    #[must_use]
    pub fn served_for_all(&self) -> i64 {
        let everyone = i64::try_from(self.queue_counter).unwrap_or(i64::MAX);
        if self.is_open() { self.serving_counter.max(everyone) } else { self.serving_counter }
    }

    /// The serving counter as AWS-style clients are shown it: where it follows the seats, no number beyond those that
    /// are free. It never goes back unless the serving counter does.
    #[must_use]
    pub fn shown_counter(&self) -> i64 {
        let served = self.served_for_all();
        let follows = self.settings.follows_seats() && !self.is_open();
        let shown = self.figures.shown.filter(|_| follows).and_then(|shown| shown.try_into().ok());
        shown.map_or(served, |shown: i64| served.min(shown))
    }

    /// The position of `queue_number`; `None` while it waits for its draw.
    #[must_use]
    pub fn position(&self, queue_number: u64) -> Option<u64> {
        (!self.awaits_draw(queue_number)).then(|| Draw::position_in(&self.draws, queue_number))
    }

    /// Whether `queue_number` came in a pre-queue that has not been drawn yet.
    #[must_use]
    pub fn awaits_draw(&self, queue_number: u64) -> bool {
        let more_may_come = self.pool_last == 0;
        self.pool_first > 0
            && queue_number >= self.pool_first
            && (more_may_come || queue_number <= self.pool_last)
    }

    /// Whether the pre-queue of an event is open.
    #[must_use]
    pub fn is_prequeueing(&self) -> bool {
        self.event.as_ref().is_some_and(|event| event.prequeueing)
    }

    /// Whether nobody enters for now, whatever the method: everyone is held, or waits for a start
    /// or a draw.
    #[must_use]
    pub fn is_held(&self) -> bool {
        self.settings.queue_all || self.is_prequeueing() || self.pool_first > 0
    }

    /// Whether everyone enters at once.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.settings.suspended
            || (!self.is_held() && self.settings.queueing_method.rules().is_open())
    }

    /// Whether newcomers are turned away, and nobody enters: not while everyone is held, unless nothing is left to wait
    /// for.
    #[must_use]
    pub fn rejects(&self) -> bool {
        self.is_sold_out()
            || !self.settings.suspended
                && !self.is_held()
                && self.settings.queueing_method.rules().rejects()
    }

    /// Whether everyone is told that nothing is left.
    #[must_use]
    pub fn is_sold_out(&self) -> bool {
        self.settings.sold_out && !self.settings.suspended
    }

    /// Its limits, and how much of them is used.
    #[must_use]
    pub fn usage(&self) -> Usage {
        Usage {
            ceiling: self.settings.total_active_users,
            active: self.active + self.unconfirmed,
            rate: self.settings.new_users_per_minute,
            admitted_last_minute: self.admitted_last_minute,
        }
    }

    /// Sessions that live, where so many of the seats taken are of sessions that have ended: what AWS-style clients call
    /// active tokens.
    #[must_use]
    pub fn sessions(&self, kept_seats: u64) -> u64 {
        (self.active + self.unconfirmed).saturating_sub(kept_seats)
    }

    /// Whether a newcomer would have to wait behind somebody. People who have been served may wait, too, where more are
    /// served than there are seats.
    #[must_use]
    pub fn is_queueing(&self) -> bool {
        let positions = i64::try_from(self.queue_counter).unwrap_or(i64::MAX);
        let wait_for_seats = self.figures.waiting > 0 && self.usage().slots() == Some(0);
        let is_line = positions > self.serving_counter || wait_for_seats;
        !self.is_open() && (self.is_held() || is_line)
    }

    /// Where the presence of `queue_number` is counted.
    #[must_use]
    pub fn spot(&self, queue_number: u64) -> Spot {
        let draw = u32::try_from(self.draws.len()).unwrap_or(u32::MAX);
        let pool = Spot::Pool { draw, number: queue_number };
        self.position(queue_number).map_or(pool, Spot::Position)
    }

    /// The counters of the snapshot itself.
    #[must_use]
    pub fn progress(&self) -> Progress {
        Progress { queue_counter: self.queue_counter, admitted: self.admitted }
    }

    /// What a visitor with `queue_number` can be told at `now_ms`; `progress` are the newest
    /// counters that the caller knows.
    #[must_use]
    pub fn outlook(&self, queue_number: u64, now_ms: u64, progress: Progress) -> Outlook {
        let position = self.position(queue_number);
        self.outlook_in(position, &self.line_conditions(position, now_ms, progress))
    }

    /// What a visitor at `position` can be told under such `conditions`.
    pub(crate) fn outlook_in(&self, position: Option<u64>, conditions: &LineConditions) -> Outlook {
        let rules = self.settings.queueing_method.rules();
        let wait = if self.is_open() {
            Estimate::from_seconds(0.0)
        } else if self.is_held() {
            Estimate::UNKNOWN
        } else {
            rules.estimate(conditions)
        };
        let position = position.filter(|_| rules.is_ordered());
        Outlook { position, people_ahead: position.map(|_| conditions.people_ahead), wait }
    }

    /// The number of visitors who hold a queue number, have not entered, left or expired, whether still there
    /// or not: the count of AWS-style clients.
    #[must_use]
    pub fn numbers_waiting(&self, progress: Progress) -> u64 {
        // Who has just entered although its position had expired is still among those that the snapshot says expired.
        let gone = self.skipped + progress.admitted + self.expired + self.left;
        progress.queue_counter.saturating_sub(gone)
    }

    /// Seconds since 1970.
    #[must_use]
    pub fn now_seconds(&self) -> u64 {
        self.now_ms / 1000
    }
}

#[cfg(test)]
pub(crate) mod test_support {
    use super::*;

    /// A room with this many queue numbers and this serving counter.
    pub(crate) fn snapshot(queue_counter: u64, serving_counter: i64) -> RoomSnapshot {
        let json = format!(
            r#"{{"room":"r","settings":{{}},"reset_epoch":1,"generation":1,"now_ms":0,
            "queue_counter":{queue_counter},"serving_counter":{serving_counter},"admitted":0,
            "active":0,"unconfirmed":0,"expired":0,"skipped":0,"tokens_until":0,"expired_position":0,
            "admitted_last_minute":0,"figures":{{}}}}"#
        );
        serde_json::from_str(&json).unwrap()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{QueueingMethod, reconciliation::UNSEEN_NUMBERS};

    fn snapshot(queue: u64, serving: i64, figures: TickFigures) -> RoomSnapshot {
        RoomSnapshot { figures, ..test_support::snapshot(queue, serving) }
    }

    #[test]
    fn a_snapshot_of_a_newer_format_is_not_read() {
        let of_format = |format: u32| {
            let json = serde_json::to_value(test_support::snapshot(53, 10)).unwrap();
            let json = json.to_string().replace("\"format\":0", &format!("\"format\":{format}"));
            serde_json::from_str::<RoomSnapshot>(&json)
        };
        assert_eq!(of_format(1).unwrap().format, 1);
        let error = of_format(2).unwrap_err().to_string();
        assert!(error.contains("format 2, and this release knows up to 1"), "{error}");
    }

    #[test]
    fn newcomers_since_the_last_tick_are_there() {
        let ahead = vec![(9, 1), (10, 2), (50, 21)];
        let room = snapshot(53, 10, TickFigures { ahead, ..TickFigures::default() });
        let people = [10, 11, 51, 54].map(|position| room.people_ahead(position, room.progress()));
        assert_eq!(people, [1, 2, 21, 24]);
    }

    #[test]
    fn numbers_that_were_left_out_are_nobody_ahead() {
        let ahead = vec![(9, 1), (10, 2), (50, 21)];
        let left_out = vec![(5, 5), (52, 99), (102, 110)];
        let figures = TickFigures { ahead, waiting: 21, ..TickFigures::default() };
        let room = RoomSnapshot { left_out: left_out.clone(), ..snapshot(120, 10, figures) };
        let people = [52, 60, 101, 102, 111, 121];
        let people = people.map(|position| room.people_ahead(position, room.progress()));
        assert_eq!(people, [22, 22, 23, 24, 24, 34]);
        assert_eq!(room.waiting(), 21 + 13);
        let fresh = RoomSnapshot { left_out, ..snapshot(120, 51, TickFigures::default()) };
        assert_eq!(fresh.people_ahead(101, fresh.progress()), 1, "before the first tick");
    }

    #[test]
    fn who_comes_from_another_side_of_a_split_has_only_those_ahead_who_are_known() {
        let room = snapshot(120, 20, TickFigures::default());
        let far = 120 + UNSEEN_NUMBERS;
        assert_eq!(room.people_ahead(far, room.progress()), far - 21, "newcomers, perhaps");
        assert_eq!(room.people_ahead(far + 1, room.progress()), 100);
        let numbered = Progress { queue_counter: far + 1, ..room.progress() };
        assert_eq!(room.people_ahead(far + 1, numbered), 100, "whoever numbered it knows no more");
    }

    #[test]
    fn a_served_hidden_tab_waits_too() {
        let ahead = vec![(10, 1), (50, 21)];
        let room = snapshot(53, 10, TickFigures { ahead, waiting: 24, ..TickFigures::default() });
        assert_eq!(room.waiting(), 24 + 3, "three came since the tick");
    }

    #[test]
    fn a_visitor_who_entered_since_the_last_tick_is_ahead_of_nobody() {
        let ahead = vec![(10, 0), (12, 2)];
        let figures =
            TickFigures { ahead, waiting: 2, admitted: Some(7), ..TickFigures::default() };
        let room = RoomSnapshot { admitted: 8, ..snapshot(14, 10, figures) };
        assert_eq!(room.people_ahead(15, room.progress()), 3, "11 entered");
        let latest = Progress { queue_counter: 14, admitted: 11 };
        assert_eq!((room.people_ahead(15, latest), room.people_ahead(12, latest)), (0, 0));
        assert_eq!(room.waiting(), 3, "two waited, two came, one entered");
    }

    #[test]
    fn waiting_numbers_follow_the_newest_counters() {
        let room =
            RoomSnapshot { admitted: 3, expired: 1, ..snapshot(10, 5, TickFigures::default()) };
        assert_eq!(room.numbers_waiting(room.progress()), 6);
        assert_eq!(room.numbers_waiting(Progress { queue_counter: 12, admitted: 4 }), 7);
        let all_expired = RoomSnapshot { expired: 1, ..snapshot(1, 1, TickFigures::default()) };
        let late = Progress { queue_counter: 1, admitted: 1 };
        assert_eq!(all_expired.numbers_waiting(late), 0, "the one who has expired has entered");
    }

    #[test]
    fn without_figures_everyone_is_there() {
        let room = snapshot(50, 10, TickFigures::default());
        assert_eq!(room.people_ahead(11, room.progress()), 0);
        assert_eq!(room.people_ahead(31, room.progress()), 20);
        assert_eq!(room.people_ahead(5, room.progress()), 0);
        let seen = Progress { queue_counter: 50, admitted: 12 };
        assert_eq!(room.people_ahead(14, seen), 1, "twelve entered at once");
    }

    #[test]
    fn queueing_is_a_line_longer_than_the_counter() {
        assert!(snapshot(11, 10, TickFigures::default()).is_queueing());
        assert!(!snapshot(10, 10, TickFigures::default()).is_queueing());
        assert!(snapshot(0, -3, TickFigures::default()).is_queueing());
        assert_eq!(snapshot(0, -3, TickFigures::default()).serving(), 0);
    }

    #[test]
    fn queueing_is_also_who_was_served_and_waits_for_a_seat() {
        let mut room = snapshot(13, 13, TickFigures { waiting: 3, ..TickFigures::default() });
        room.settings.total_active_users = Some(10);
        room.active = 9;
        assert!(!room.is_queueing(), "they are about to enter");
        room.active = 10;
        assert!(room.is_queueing());
        room.figures.waiting = 0;
        assert!(!room.is_queueing(), "a newcomer stands behind nobody");
    }

    #[test]
    fn no_number_beyond_the_seats_is_shown_where_the_counter_follows_them() {
        let mut room = snapshot(30, 20, TickFigures { shown: Some(12), ..TickFigures::default() });
        assert_eq!(room.shown_counter(), 20, "a room that does not follow");
        room.settings.serving_counter_follows_seats = true;
        assert_eq!(room.shown_counter(), 20, "nor does one without limits");
        room.settings.total_active_users = Some(5);
        assert_eq!(room.shown_counter(), 12);
        room.serving_counter = -3;
        assert_eq!(room.shown_counter(), -3, "never above the counter itself");
        room.figures.shown = None;
        assert_eq!(room.shown_counter(), -3, "of a leader that does not say");
        room.settings.suspended = true;
        assert_eq!(room.shown_counter(), 30, "everyone enters");
    }

    #[test]
    fn a_pre_queue_has_no_positions_until_it_is_drawn() {
        let mut room = snapshot(20, 4, TickFigures::default());
        (room.pool_first, room.pool_last) = (11, 0);
        assert_eq!(
            (room.position(10), room.position(11), room.position(99)),
            (Some(10), None, None)
        );
        assert!(room.is_held() && room.is_queueing());
        room.pool_last = 18;
        assert_eq!((room.position(18), room.position(19)), (None, Some(19)));
        assert_eq!(room.spot(12), Spot::Pool { draw: 0, number: 12 });
        assert_eq!(room.spot(10), Spot::Position(10));
        room.draws = vec![Draw::new(11, 8, [7; 32])];
        (room.pool_first, room.pool_last) = (0, 0);
        let mut places: Vec<_> = (11..=18).filter_map(|number| room.position(number)).collect();
        places.sort_unstable();
        assert_eq!(places, (11..=18).collect::<Vec<_>>());
        assert_eq!(room.position(19), Some(19));
    }

    #[test]
    fn precedence_suspended_then_held_then_the_method() {
        let mut room = snapshot(20, 4, TickFigures::default());
        room.settings.queueing_method = QueueingMethod::Passthrough;
        assert!(room.is_open() && !room.is_queueing());
        assert_eq!(room.served_for_all(), 20);
        room.settings.queue_all = true;
        assert!(!room.is_open() && room.is_queueing());
        assert_eq!(room.served_for_all(), 4);
        room.settings.queueing_method = QueueingMethod::Reject;
        assert!(!room.rejects(), "held people wait; they are not turned away");
        room.settings.queue_all = false;
        assert!(room.rejects());
        room.settings.suspended = true;
        assert!(room.is_open() && !room.rejects());
    }

    #[test]
    fn in_a_random_room_nobody_is_ahead() {
        let mut room = snapshot(200, 0, TickFigures { waiting: 100, ..TickFigures::default() });
        room.settings.queueing_method = QueueingMethod::Random;
        room.figures.admissions_per_second = 10.0 / 60.0;
        let outlook = room.outlook(150, 0, room.progress());
        assert_eq!((outlook.position, outlook.people_ahead), (None, None));
        assert_eq!(outlook.wait.seconds.map(f64::round), Some(395.0), "6 min 35 s");
        room.settings.queue_all = true;
        assert_eq!(room.outlook(150, 0, room.progress()).wait, Estimate::UNKNOWN);
    }
}
