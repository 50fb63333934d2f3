//! Closing minutes: two seconds after a minute ends, the controller that serves a room moves its counts into the
//! traffic history. A room in which nobody is, and to which nobody has come since all its counts moved, is left alone, but
//! for once an hour: admissions may have turned people away.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use tokio::time::sleep;
use vestibule_domain::{RoomId, RoomSnapshot};
use vestibule_store::StoreError;

use crate::{leadership::Term, state::Controller};

const MINUTE_MS: u64 = 60_000;
const MINUTES_PER_DAY: u64 = 24 * 60;
/// How long after its end a minute is closed.
const AFTER_MS: u64 = 2_000;
const RETRY: Duration = Duration::from_secs(1);

/// Rooms of which nothing is open, as they were before that was found.
#[derive(Debug, Default)]
struct Closed(BTreeMap<RoomId, Counts>);

/// Whatever is counted by the minute changes these, but for people who are just there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Counts {
    reset_epoch: u64,
    generation: u32,
    queue_counter: u64,
    admitted: u64,
    expired: u64,
    left: u64,
    active: u64,
}

/// Closes minutes for as long as this instance serves rooms.
pub(super) async fn run(controller: Arc<Controller>) {
    let mut role = controller.leadership.watch();
    let mut closed = Closed::default();
    loop {
        let serving = role.see().serving();
        let Some(term) = serving else {
            role.changed().await;
            continue;
        };
        let pause = match controller.store.now_ms().await {
            Ok(now_ms) => {
                controller.closed_minutes.begin(now_ms / 1000);
                close_minutes(&controller, &mut closed, term, now_ms).await;
                until_next(now_ms)
            }
            Err(_) => RETRY,
        };
        tokio::select! {
            biased;
            () = role.changed() => {}
            () = sleep(pause) => {}
        }
    }
}

/// Closes the minutes before the current one, in every room of its share.
async fn close_minutes(controller: &Controller, closed: &mut Closed, term: Term, now_ms: u64) {
    let Term { epoch, share, .. } = term;
    closed.0.retain(|room, _| controller.feed.room(room.as_str()).is_some());
    let last = (now_ms / MINUTE_MS).saturating_sub(1);
    let mut are_all_closed = true;
    for known in controller.feed.rooms() {
        // Read before its counts move: whoever comes meanwhile is found the next time.
        let last_seen = known.snapshot();
        let room = &last_seen.room;
        if !share.has(room) || closed.has(&last_seen) && !is_its_turn(room, last) {
            continue;
        }
        for day in days(last) {
            match controller.store.roll_up(room, epoch, day, last).await {
                Ok(rolled) => closed.note(&last_seen, rolled.open == 0),
                Err(StoreError::RoomMissing | StoreError::Rewound) => {}
                Err(StoreError::Fenced { epoch: by }) => {
                    return controller.leadership.overtaken(epoch, by);
                }
                Err(error) => {
                    are_all_closed = false;
                    tracing::warn!(%room, %error, "minutes could not be closed");
                }
            }
        }
    }
    if are_all_closed {
        controller.closed_minutes.note((last + 1) * 60);
    }
}

/// The day before that of `minute`, which may have open minutes left, and the day of `minute`.
fn days(minute: u64) -> [u64; 2] {
    let today = minute / MINUTES_PER_DAY;
    [today.saturating_sub(1), today]
}

/// Whether a room is looked at in this minute whatever is known of it: once an hour, and not all rooms at once.
fn is_its_turn(room: &RoomId, minute: u64) -> bool {
    let spread: u64 = room.as_str().bytes().map(u64::from).sum();
    minute % 60 == spread % 60
}

fn until_next(now_ms: u64) -> Duration {
    Duration::from_millis(MINUTE_MS - now_ms % MINUTE_MS + AFTER_MS)
}

// === impl Closed ===

impl Closed {
    /// Whether nothing is open of this room.
    fn has(&self, room: &RoomSnapshot) -> bool {
        room.active + room.unconfirmed + room.figures.waiting == 0
            && self.0.get(&room.room) == Some(&Counts::of(room))
    }

    fn note(&mut self, room: &RoomSnapshot, is_closed: bool) {
        if is_closed {
            self.0.insert(room.room.clone(), Counts::of(room));
        } else {
            self.0.remove(&room.room);
        }
    }
}

// === impl Counts ===

impl Counts {
    fn of(room: &RoomSnapshot) -> Self {
        let &RoomSnapshot {
            reset_epoch,
            generation,
            queue_counter,
            admitted,
            expired,
            left,
            active,
            ..
        } = room;
        Self { reset_epoch, generation, queue_counter, admitted, expired, left, active }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room(queue_counter: u64, admitted: u64) -> RoomSnapshot {
        serde_json::from_value(serde_json::json!({
            "room": "r", "settings": {}, "reset_epoch": 1, "generation": 1, "now_ms": 0,
            "queue_counter": queue_counter, "serving_counter": 0, "admitted": admitted, "active": 0,
            "unconfirmed": 0, "expired": 0, "skipped": 0, "tokens_until": 0, "expired_position": 0,
            "admitted_last_minute": 0, "figures": {},
        }))
        .unwrap()
    }

    #[test]
    fn a_room_is_closed_until_somebody_comes_or_enters() {
        let mut closed = Closed::default();
        assert!(!closed.has(&room(5, 3)), "never looked at");
        closed.note(&room(5, 3), true);
        assert!(closed.has(&room(5, 3)));
        assert!(!closed.has(&room(6, 3)) && !closed.has(&room(5, 4)));
        let restored = RoomSnapshot { generation: 2, ..room(5, 3) };
        assert!(!closed.has(&restored));
        let crowded = RoomSnapshot { active: 1, ..room(5, 3) };
        closed.note(&crowded, true);
        assert!(!closed.has(&crowded), "somebody is inside in every minute");
        closed.note(&room(5, 3), false);
        assert!(!closed.has(&room(5, 3)), "a minute is under way");
    }

    #[test]
    fn a_room_at_rest_is_looked_at_once_an_hour() {
        let room = RoomId::new("sale").unwrap();
        assert_eq!((0..120).filter(|minute| is_its_turn(&room, *minute)).count(), 2);
    }

    #[test]
    fn minutes_are_closed_just_after_they_end() {
        assert_eq!(until_next(120_000), Duration::from_secs(62));
        assert_eq!(until_next(179_999), Duration::from_millis(2_001));
        assert_eq!(days(MINUTES_PER_DAY * 5 - 1), [3, 4]);
        assert_eq!(days(MINUTES_PER_DAY * 5), [4, 5]);
    }
}
