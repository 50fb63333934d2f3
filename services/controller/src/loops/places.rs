//! Remembering which places of each room are over, so that nobody enters twice after Redis has lost it, and which are
//! AWS-style visitors'. Admissions remember only whom they let in themselves.
//!
//! It is read piece by piece, and only where something has changed. Who entered since the last reading is known to the
//! admission that let them in.

use std::collections::BTreeMap;

use futures_util::{StreamExt, stream};
use vestibule_domain::{RoomId, RoomSnapshot, presence::chunk::chunk_of};
use vestibule_store::StoreError;

use super::ROOMS_AT_ONCE;
use crate::{away::Away, state::Controller};

/// So many chunks of a room are read with one look, at most: two million places.
const AT_ONCE: u64 = 16;

/// What was read of the rooms.
pub(super) type Readings = BTreeMap<RoomId, Reading>;

/// What was read of a room.
#[derive(Debug, Default)]
pub(super) struct Reading {
    /// The room as it was when the last reading began; `None`: none was.
    began: Option<Counters>,
    /// The chunk to read next; `None`: all were read.
    next: Option<u64>,
}

/// Whenever a place's bits change, one of these does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Counters {
    state: (u64, u32),
    queue_counter: u64,
    over: [u64; 3],
}

/// Looks at every room once. One that cannot be read keeps nobody from the others.
pub(super) async fn look(controller: &Controller, readings: &mut Readings) {
    let mut before = std::mem::take(readings);
    let known = controller.feed.rooms().into_iter().map(|known| known.snapshot());
    let all: Vec<_> =
        known.map(|last| (before.remove(&last.room).unwrap_or_default(), last)).collect();
    let away = &Away::default();
    let looks = stream::iter(all).map(|(mut reading, last)| async move {
        let read = read(controller, &last, &mut reading);
        match away.ask(&controller.store, &last.room, read).await {
            Ok(()) => {}
            // It is about to be brought to its latest state.
            Err(StoreError::RoomMissing | StoreError::Rewound) => reading = Reading::default(),
            Err(error) => tracing::debug!(room = %last.room, %error, "places cannot be read"),
        }
        (last.room.clone(), reading)
    });
    *readings = looks.buffer_unordered(ROOMS_AT_ONCE).collect().await;
}

async fn read(
    controller: &Controller,
    last: &RoomSnapshot,
    reading: &mut Reading,
) -> Result<(), StoreError> {
    for _ in 0..AT_ONCE {
        let Some(chunk) = reading.next_of(last) else { return Ok(()) };
        controller.store.remember_places(&last.room, chunk).await?;
        if let Some(whole) = reading.has_read(chunk) {
            let (reset_epoch, _) = whole.state;
            controller.store.note_places_known(&last.room, reset_epoch, whole.queue_counter);
        }
    }
    Ok(())
}

// === impl Reading ===

impl Reading {
    /// The chunk to read next of a room that is known as `last`; `None`: nothing has changed.
    fn next_of(&mut self, last: &RoomSnapshot) -> Option<u64> {
        let now = Counters::of(last);
        if self.next.is_none() && self.began != Some(now) && now.queue_counter > 0 {
            *self = Self { began: Some(now), next: Some(0) };
        }
        self.next
    }

    /// Notes that a chunk was read; if it was the last one, returns how the room was when the first one was.
    fn has_read(&mut self, chunk: u64) -> Option<Counters> {
        let began = self.began?;
        let is_last = chunk >= chunk_of(began.queue_counter);
        self.next = (!is_last).then_some(chunk + 1);
        is_last.then_some(began)
    }
}

// === impl Counters ===

impl Counters {
    fn of(room: &RoomSnapshot) -> Self {
        // Whoever gives up before a draw is counted nowhere, but waits no more.
        let given_up = if room.pool_first > 0 { room.figures.waiting } else { 0 };
        Self {
            state: (room.reset_epoch, room.generation),
            queue_counter: room.queue_counter,
            over: [room.admitted, room.left, given_up],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room(queue_counter: u64, admitted: u64) -> RoomSnapshot {
        serde_json::from_value(serde_json::json!({
            "room": "r", "settings": {}, "reset_epoch": 7, "generation": 1, "now_ms": 0,
            "queue_counter": queue_counter, "serving_counter": 0, "admitted": admitted, "active": 0,
            "unconfirmed": 0, "expired": 0, "skipped": 0, "tokens_until": 0, "expired_position": 0,
            "admitted_last_minute": 0, "figures": {},
        }))
        .unwrap()
    }

    #[test]
    fn a_room_is_read_chunk_by_chunk_once_something_has_changed() {
        let mut reading = Reading::default();
        assert_eq!(reading.next_of(&room(0, 0)), None, "nobody has come");
        assert_eq!(reading.next_of(&room(300_000, 5)), Some(0));
        assert_eq!(reading.has_read(0), None);
        assert_eq!(reading.next_of(&room(900_000, 6)), Some(1), "one reading after the other");
        assert_eq!(reading.has_read(1), None);
        assert_eq!(reading.has_read(2).map(|began| began.queue_counter), Some(300_000));
        assert_eq!(reading.next_of(&room(300_000, 5)), None, "nothing has changed");
        assert_eq!(reading.next_of(&room(900_000, 6)), Some(0));
    }
}
