//! A lock for each room: what is done of one holds up no other, whose Redis may be another.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use rustc_hash::FxHashMap;
use vestibule_domain::RoomId;

/// When so many are kept, those that nobody holds are let go.
const KEPT: usize = 1_024;

/// The locks of the rooms that somebody has at hand.
#[derive(Debug, Default)]
pub(super) struct RoomLocks(Mutex<FxHashMap<RoomId, Weak<tokio::sync::Mutex<()>>>>);

// === impl RoomLocks ===

impl RoomLocks {
    /// That of `room`.
    pub(super) fn of(&self, room: &RoomId) -> Arc<tokio::sync::Mutex<()>> {
        let mut locks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lock) = locks.get(room).and_then(Weak::upgrade) {
            return lock;
        }
        if locks.len() >= KEPT {
            locks.retain(|_, lock| lock.strong_count() > 0);
        }
        let lock = Arc::default();
        locks.insert(room.clone(), Arc::downgrade(&lock));
        lock
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_room_waits_for_itself_alone() {
        let locks = RoomLocks::default();
        let [first, second] = ["a", "b"].map(|name| RoomId::new(name).unwrap());
        let lock = locks.of(&first);
        let held = lock.lock().await;
        assert!(locks.of(&first).try_lock().is_err());
        assert!(locks.of(&second).try_lock().is_ok());
        drop(held);
        assert!(locks.of(&first).try_lock().is_ok());
    }

    #[test]
    fn those_that_nobody_holds_are_let_go() {
        let locks = RoomLocks::default();
        let room = |number: usize| RoomId::new(format!("room-{number}")).unwrap();
        let held = locks.of(&room(0));
        for number in 1..3 * KEPT {
            locks.of(&room(number));
        }
        assert!(locks.0.lock().unwrap().len() <= KEPT);
        assert!(Arc::ptr_eq(&held, &locks.of(&room(0))));
    }
}
