//! The last day of one room: what is remembered of it, and what of it is to be read. A room to which nobody comes
//! costs nothing.

use vestibule_domain::RoomSnapshot;
use vestibule_store::Traffic;

use super::{Minutes, counts::Counts};

const MINUTES_PER_DAY: u64 = 24 * 60;
/// More minutes than these are read as a whole day.
const MOST_MINUTES: u64 = 30;

/// What is due of a room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Due {
    Nothing,
    /// All of it is to be put back: Redis has lost the room since it was read.
    PutBack,
    /// It is to be read from this minute on, a day before the last: all of it.
    ReadWhole(u64),
    /// The minutes from the first to the last of these are to be read.
    Read(u64, u64),
}

/// Whatever is counted by the minute changes these, but for people who are just there.
type Counters = [u64; 6];

/// See the module.
#[derive(Debug)]
pub(super) struct RoomDay {
    counts: Counts,
    /// The reset epoch and the generation of the state that was read.
    state: (u64, u32),
    /// Nothing changes any more up to this minute, which was read.
    is_read_until: u64,
    /// What was known of the room when it was read last.
    read: Option<Read>,
    /// From which minute on all of it is to be read.
    whole_due: Option<u64>,
}

#[derive(Debug)]
struct Read {
    counters: Counters,
    minute: u64,
    /// Whether counts were found that were not closed.
    is_open: bool,
}

// === impl RoomDay ===

impl RoomDay {
    /// Of a room that is known as `last`, and of which nothing was read.
    pub(super) fn of(last: &RoomSnapshot) -> Self {
        let state = state_of(last);
        let counts = Counts::default();
        Self { counts, state, is_read_until: 0, read: None, whole_due: Some(0) }
    }

    /// The reset epoch of the state that was read.
    pub(super) fn reset_epoch(&self) -> u64 {
        self.state.0
    }

    /// How many newcomers and admissions are remembered.
    pub(super) fn kept(&self) -> u64 {
        self.counts.sum()
    }

    /// What is due, now that the room is known as `last`.
    pub(super) fn due(&mut self, last: &RoomSnapshot) -> Due {
        let minute = minute_of(last);
        self.counts.forget_before(minute.saturating_sub(MINUTES_PER_DAY));
        if self.was_lost(last) && !self.counts.is_empty() {
            return Due::PutBack;
        }
        if self.whole_due.is_some_and(|due| due <= minute) {
            return Due::ReadWhole(minute.saturating_sub(MINUTES_PER_DAY));
        }
        if let Some(read) = self.read.as_ref().filter(|read| read.counters == counters(last)) {
            if !read.is_open {
                self.is_read_until = self.is_read_until.max(minute.saturating_sub(1));
                return Due::Nothing;
            }
            if read.minute == minute {
                return Due::Nothing;
            }
        }
        if minute - self.is_read_until.min(minute) > MOST_MINUTES {
            return Due::ReadWhole(minute.saturating_sub(MINUTES_PER_DAY));
        }
        // The next one may have begun.
        Due::Read(self.is_read_until + 1, minute + 1)
    }

    /// Takes in the last day, read when the room was known as `last`.
    pub(super) fn take_whole(&mut self, last: &RoomSnapshot, minutes: &Minutes) {
        let minute = minute_of(last);
        self.counts.take(minutes);
        // What was closed meanwhile may be missing. And when it is read first, others may be about to put it back.
        let is_first = self.whole_due == Some(0);
        self.whole_due = is_first.then_some(minute + 1);
        self.is_read_until = minute.saturating_sub(MOST_MINUTES / 2);
        self.read = None;
    }

    /// Takes in the newest minutes, read when the room was known as `last`.
    pub(super) fn take(&mut self, last: &RoomSnapshot, traffic: &Traffic) {
        let minute = minute_of(last);
        self.counts.take(&traffic.minutes);
        let open = traffic.open.unwrap_or(minute).min(minute);
        self.is_read_until = open.saturating_sub(1).max(minute.saturating_sub(MOST_MINUTES));
        let is_open = traffic.open.is_some() || has_people(last);
        self.read = Some(Read { counters: counters(last), minute, is_open });
        if !self.was_lost(last) {
            self.state = state_of(last);
        }
    }

    /// Notes that all of it was put back into the room that is known as `last`. Others may be about to do so.
    pub(super) fn was_put_back(&mut self, last: &RoomSnapshot) {
        self.state = state_of(last);
        self.whole_due = Some(minute_of(last) + 1);
    }

    /// What was counted from this minute on.
    pub(super) fn since(&self, minute: u64) -> Minutes {
        self.counts.since(minute)
    }

    /// Whether Redis has lost the room since it was read. A reset leaves the history as it is.
    fn was_lost(&self, last: &RoomSnapshot) -> bool {
        state_of(last) != self.state && last.generation > 1
    }
}

fn state_of(room: &RoomSnapshot) -> (u64, u32) {
    (room.reset_epoch, room.generation)
}

fn counters(room: &RoomSnapshot) -> Counters {
    let &RoomSnapshot { reset_epoch, queue_counter, admitted, expired, left, active, .. } = room;
    [reset_epoch, queue_counter, admitted, expired, left, active]
}

/// Whether levels are noted in every minute.
fn has_people(room: &RoomSnapshot) -> bool {
    room.active + room.unconfirmed + room.figures.waiting > 0
}

fn minute_of(room: &RoomSnapshot) -> u64 {
    room.now_ms / 60_000
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use vestibule_store::MinuteTraffic;

    use super::*;

    const NOW: u64 = 30_000_000;

    fn room(minute: u64, queue_counter: u64) -> RoomSnapshot {
        serde_json::from_value(serde_json::json!({
            "room": "r", "settings": {}, "reset_epoch": 7, "generation": 1, "now_ms": minute * 60_000,
            "queue_counter": queue_counter, "serving_counter": 0, "admitted": 0, "active": 0,
            "unconfirmed": 0, "expired": 0, "skipped": 0, "tokens_until": 0, "expired_position": 0,
            "admitted_last_minute": 0, "figures": {},
        }))
        .unwrap()
    }

    fn traffic(open: Option<u64>, minutes: &[(u64, u64)]) -> Traffic {
        let arrivals = |count| BTreeMap::from([("eu".to_owned(), count)]);
        let minute = |&(minute, count)| {
            (minute, MinuteTraffic { arrivals: arrivals(count), ..MinuteTraffic::default() })
        };
        Traffic { minutes: minutes.iter().map(minute).collect(), open }
    }

    /// One that was read as a whole, twice, and of which nothing is open.
    fn read(minute: u64, queue_counter: u64) -> RoomDay {
        let mut day = RoomDay::of(&room(minute, queue_counter));
        for minute in [minute - 1, minute] {
            assert_eq!(day.due(&room(minute, queue_counter)), Due::ReadWhole(minute - 1_440));
            day.take_whole(&room(minute, queue_counter), &Minutes::new());
        }
        assert_eq!(day.due(&room(minute, queue_counter)), Due::Read(minute - 14, minute + 1));
        day.take(&room(minute, queue_counter), &traffic(None, &[]));
        day
    }

    #[test]
    fn a_room_to_which_nobody_comes_is_not_read_again() {
        let mut day = read(NOW, 5);
        for minute in [0, 1, 100] {
            assert_eq!(day.due(&room(NOW + minute, 5)), Due::Nothing);
        }
        assert_eq!(day.due(&room(NOW + 101, 6)), Due::Read(NOW + 100, NOW + 102), "what is new");
    }

    #[test]
    fn a_minute_is_read_until_it_is_closed() {
        let mut day = read(NOW, 5);
        day.take(&room(NOW, 6), &traffic(Some(NOW), &[(NOW, 1)]));
        assert_eq!(day.due(&room(NOW, 6)), Due::Nothing, "nobody came since");
        assert_eq!(day.due(&room(NOW, 7)), Due::Read(NOW, NOW + 1));
        assert_eq!(day.due(&room(NOW + 1, 6)), Due::Read(NOW, NOW + 2), "it is over");
        day.take(&room(NOW + 1, 6), &traffic(Some(NOW), &[(NOW, 2)]));
        assert_eq!(day.due(&room(NOW + 2, 6)), Due::Read(NOW, NOW + 3), "and not closed");
        day.take(&room(NOW + 2, 6), &traffic(None, &[(NOW, 3)]));
        assert_eq!(day.due(&room(NOW + 3, 6)), Due::Nothing);
        assert_eq!((day.since(0), day.kept()), (traffic(None, &[(NOW, 3)]).minutes, 3));
        assert_eq!(day.due(&room(NOW + 1_441, 6)), Due::Nothing);
        assert_eq!(day.kept(), 0, "a day is over");
    }

    #[test]
    fn while_nobody_closes_minutes_those_of_the_last_half_hour_are_read() {
        let mut day = read(NOW, 5);
        day.take(&room(NOW + 90, 6), &traffic(Some(NOW), &[(NOW, 1)]));
        assert_eq!(day.due(&room(NOW + 90, 7)), Due::Read(NOW + 61, NOW + 91));
    }

    #[test]
    fn what_was_lost_is_put_back_and_what_others_put_back_is_read() {
        let mut day = read(NOW, 5);
        day.take(&room(NOW, 6), &traffic(None, &[(NOW, 1)]));
        let reset = RoomSnapshot { reset_epoch: 8, ..room(NOW, 0) };
        assert!(matches!(day.due(&reset), Due::Read(..)), "nothing was lost");
        day.take(&reset, &traffic(None, &[]));
        assert_eq!(day.reset_epoch(), 8);
        let lost = RoomSnapshot { generation: 2, ..reset };
        assert_eq!(day.due(&lost), Due::PutBack);
        day.was_put_back(&lost);
        assert_eq!(day.due(&lost), Due::Nothing);
        let later = RoomSnapshot { now_ms: (NOW + 1) * 60_000, ..lost };
        assert_eq!(day.due(&later), Due::ReadWhole(NOW - 1_439));
    }
}
