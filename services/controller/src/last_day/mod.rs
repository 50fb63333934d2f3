//! What this instance remembers of the history of each room: the last day, so that it can put back what Redis has
//! lost. When it is read and put back is in `loops/history.rs`; the history that operators read is always Redis's.

mod counts;
mod room_day;

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use vestibule_domain::{RoomId, RoomSnapshot};
use vestibule_store::{MinuteTraffic, Traffic};

pub(crate) use self::room_day::Due;
use self::room_day::RoomDay;

/// Minutes by which they began, since 1970.
pub(crate) type Minutes = BTreeMap<u64, MinuteTraffic>;

/// The last day of every room.
#[derive(Debug, Default)]
pub(crate) struct LastDays(Mutex<BTreeMap<RoomId, RoomDay>>);

// === impl LastDays ===

impl LastDays {
    /// Forgets rooms that are no more: those that are not known, and those of an epoch that is `buried`.
    pub(crate) fn forget(
        &self,
        buried: &BTreeMap<RoomId, u64>,
        is_known: impl Fn(&RoomId) -> bool,
    ) {
        let is_buried = |room: &RoomId, day: &RoomDay| {
            buried.get(room).is_some_and(|epoch| day.reset_epoch() <= *epoch)
        };
        let mut days = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        days.retain(|room, day| is_known(room) && !is_buried(room, day));
    }

    /// What is due of a room that is known as `last`.
    pub(crate) fn due(&self, last: &RoomSnapshot) -> Due {
        self.with(last, |day| day.due(last))
    }

    /// Takes in what Redis holds: of the last day, as it was read when the room was known as `last`.
    pub(crate) fn take_whole(&self, last: &RoomSnapshot, minutes: &Minutes) {
        self.with(last, |day| day.take_whole(last, minutes));
    }

    /// The same, of the newest minutes.
    pub(crate) fn take(&self, last: &RoomSnapshot, traffic: &Traffic) {
        self.with(last, |day| day.take(last, traffic));
    }

    /// All that is remembered of a room.
    pub(crate) fn all(&self, last: &RoomSnapshot) -> Minutes {
        self.with(last, |day| day.since(0))
    }

    /// Notes that all of it was put back.
    pub(crate) fn was_put_back(&self, last: &RoomSnapshot) {
        self.with(last, |day| day.was_put_back(last));
    }

    /// What is remembered of a room since its last reset that may have been under way when it was last heard of.
    pub(crate) fn newest(&self, last: &RoomSnapshot) -> Minutes {
        let minute = (last.now_ms / 60_000).saturating_sub(1);
        self.with(last, |day| {
            if day.reset_epoch() == last.reset_epoch { day.since(minute) } else { Minutes::new() }
        })
    }

    /// How many newcomers and admissions are remembered, of all rooms.
    pub(crate) fn kept(&self) -> u64 {
        let days = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        days.values().map(RoomDay::kept).sum()
    }

    fn with<T>(&self, last: &RoomSnapshot, act: impl FnOnce(&mut RoomDay) -> T) -> T {
        let mut days = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        act(days.entry(last.room.clone()).or_insert_with(|| RoomDay::of(last)))
    }
}
