//! Closing minutes: two seconds after a minute ends, the controller that serves a room moves its counts into the
//! traffic history. A room in which nobody is, and to which nobody has come since all its counts moved, is left alone, but
//! for once an hour: admissions may have turned people away. Minutes of long ago, of before all was stopped or of a backup,
//! are closed as well.

use std::{collections::BTreeMap, pin::pin, sync::Arc, time::Duration};

use futures_util::{StreamExt, stream};
use tokio::time::sleep;
use vestibule_domain::{RoomId, RoomSnapshot};
use vestibule_store::{RolledUp, StoreError};

use super::{ROOMS_AT_ONCE, foreign};
use crate::{away::Away, leadership::Term, state::Controller};

const MINUTE_MS: u64 = 60_000;
const MINUTES_PER_DAY: u64 = 24 * 60;
/// So many days of long ago are closed in each room and minute, at most.
const DAYS_AT_ONCE: usize = 8;
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
    // Read before their counts move: whoever comes meanwhile is found the next time.
    let mut rooms: Vec<_> = controller.feed.rooms().iter().map(|known| known.snapshot()).collect();
    rooms.retain(|seen| {
        share.has(&seen.room) && (!closed.has(seen) || is_its_turn(&seen.room, last))
    });
    let (store, away) = (&controller.store, &Away::default());
    let closing = stream::iter(rooms).map(|seen| async move {
        let close = |day| store.roll_up(&seen.room, epoch, day, last);
        (away.ask(store, &seen.room, close_days(last, close)).await, Arc::clone(&seen))
    });
    let mut all = pin!(closing.buffer_unordered(ROOMS_AT_ONCE));
    while let Some((done, last_seen)) = all.next().await {
        let room = &last_seen.room;
        match done {
            Ok(rolled) => closed.note(&last_seen, rolled.open == 0),
            Err(StoreError::RoomMissing | StoreError::Rewound) => {}
            Err(StoreError::Fenced { epoch: by }) => {
                return controller.leadership.overtaken(epoch, by);
            }
            Err(error) => {
                are_all_closed = false;
                tracing::warn!(%room, %error, "minutes could not be closed");
                if let StoreError::Unexpected(why) = &error {
                    foreign::remove(controller, room, why).await;
                }
            }
        }
    }
    if are_all_closed {
        controller.closed_minutes.note((last + 1) * 60);
    }
}

/// Closes the minutes up to `last` by `close`, which closes those of a day: of yesterday, of earlier days as long as some
/// are open, the oldest first, and of today. One that cannot be closed does not keep today from it.
async fn close_days<F>(last: u64, close: impl Fn(u64) -> F) -> Result<RolledUp, StoreError>
where
    F: Future<Output = Result<RolledUp, StoreError>>,
{
    let today = last / MINUTES_PER_DAY;
    let earlier = close_before(today, &close).await;
    let rolled = close(today).await;
    earlier.and(rolled)
}

async fn close_before<F>(today: u64, close: impl Fn(u64) -> F) -> Result<(), StoreError>
where
    F: Future<Output = Result<RolledUp, StoreError>>,
{
    let mut day = today.saturating_sub(1);
    for _ in 0..=DAYS_AT_ONCE {
        let oldest = close(day).await?.oldest.map(|minute| minute / MINUTES_PER_DAY);
        match oldest.filter(|oldest| *oldest < today) {
            Some(oldest) => day = oldest,
            None => break,
        }
    }
    Ok(())
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
    use std::{cell::RefCell, collections::BTreeSet};

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
    }

    /// A room with a minute open in each of these days.
    #[derive(Debug)]
    struct Open(RefCell<BTreeSet<u64>>, RefCell<Vec<u64>>);

    impl Open {
        fn of(days: impl IntoIterator<Item = u64>) -> Self {
            Self(RefCell::new(days.into_iter().collect()), RefCell::default())
        }

        /// The days that are closed, one after the other, in the minute after `last`.
        async fn closed(&self, last: u64) -> Vec<u64> {
            let close = async |day| {
                let Self(open, asked) = self;
                asked.borrow_mut().push(day);
                let moved = u64::from(open.borrow_mut().remove(&day));
                let oldest = open.borrow().first().map(|day| day * MINUTES_PER_DAY + 7);
                Ok(RolledUp { moved, open: open.borrow().len() as u64, oldest })
            };
            let rolled = close_days(last, close).await.unwrap();
            assert_eq!(rolled.open, self.0.borrow().len() as u64);
            self.1.take()
        }
    }

    #[tokio::test]
    async fn minutes_of_yesterday_and_today_are_closed_and_of_long_ago_the_oldest_first() {
        let today = MINUTES_PER_DAY * 50;
        assert_eq!(Open::of([]).closed(today - 1).await, [48, 49]);
        assert_eq!(Open::of([49, 50]).closed(today).await, [49, 50]);
        assert_eq!(Open::of([51]).closed(today).await, [49, 50], "of a clock that was wrong");
        assert_eq!(Open::of([30, 40, 49, 50]).closed(today).await, [49, 30, 40, 50]);
        let many = Open::of(20..50);
        let asked = many.closed(today).await;
        assert_eq!(asked.len(), DAYS_AT_ONCE + 2, "{asked:?}");
        for _ in 0..3 {
            many.closed(today).await;
        }
        assert!(many.0.borrow().is_empty(), "{many:?}");
    }

    #[tokio::test]
    async fn a_day_that_cannot_be_closed_keeps_no_other_from_it() {
        let asked = RefCell::new(Vec::new());
        let close = async |day| {
            asked.borrow_mut().push(day);
            let is_today = day == 50;
            let rolled = RolledUp { moved: 0, open: 0, oldest: None };
            is_today.then_some(rolled).ok_or(StoreError::Unexpected("WRONGTYPE".into()))
        };
        let done = close_days(MINUTES_PER_DAY * 50, close).await;
        assert!(matches!(done, Err(StoreError::Unexpected(_))), "{done:?}");
        assert_eq!(asked.take(), [49, 50]);
    }
}
