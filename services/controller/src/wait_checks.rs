//! What came of the waits that were told, in every room that this instance serves: `vestibule_domain::wait_check` in
//! its memory. It changes nothing that anybody is told.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use vestibule_domain::{
    RoomId, RoomSnapshot,
    wait_check::{Outcome, WaitCheck},
};

/// The checks of all rooms.
#[derive(Debug, Default)]
pub(crate) struct WaitChecks(Mutex<BTreeMap<RoomId, WaitCheck>>);

// === impl WaitChecks ===

impl WaitChecks {
    /// Sees the rooms that are served, and forgets all others: what happens in those meanwhile is not seen here.
    pub(crate) fn see<'a>(&self, served: impl Iterator<Item = &'a RoomSnapshot>) {
        let mut checks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut before = std::mem::take(&mut *checks);
        for room in served {
            let mut check = before.remove(&room.room).unwrap_or_default();
            check.see(room);
            checks.insert(room.room.clone(), check);
        }
    }

    /// What came of the wait of whose turn came last in this room.
    pub(crate) fn last(&self, room: &RoomSnapshot) -> Option<Outcome> {
        let checks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        checks.get(&room.room)?.last(room.now_ms)
    }
}
