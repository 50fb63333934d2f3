//! What this service has seen of each room, in answers and pushes: which state of the room it was, and what time it
//! is there. Every call tells it to the script (`lib/incarnation.lua`), which so notices a Redis that went back.

mod calls;
mod places;
mod room_memory;
mod seal;
mod seats;
mod standing;
mod watermarks;

use std::sync::{Arc, Mutex, PoisonError, RwLock};

use rustc_hash::FxHashMap;
use tokio::time::Instant;
use vestibule_domain::RoomId;

pub use self::{calls::AnsweredCall, places::PlaceBits};
pub(crate) use self::{
    places::{Places, PlacesChunk},
    room_memory::{Recollection, RoomMemory},
    seal::Seal,
    standing::{Announced, Standing},
};
pub use self::{
    seats::{Ending, Seat},
    watermarks::Highest,
};

/// A room's time may differ by so much from what a caller takes it for before that counts as a jump, ms: the same in
/// `lib/clock.lua`.
pub(crate) const CLOCK_TOLERANCE_MS: u64 = 2_000;

/// The memory of all rooms.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    rooms: RwLock<FxHashMap<RoomId, Arc<RoomMemory>>>,
    /// What time it was in the deployment, ms, and when it was that time.
    time: Mutex<Option<(u64, Instant)>>,
    standing: Standing,
}

// === impl Memory ===

impl Memory {
    /// That of `room`, which may be empty.
    pub(crate) fn room(&self, room: &RoomId) -> Arc<RoomMemory> {
        let known = self.rooms.read().unwrap_or_else(PoisonError::into_inner).get(room).cloned();
        known.unwrap_or_else(|| {
            let mut rooms = self.rooms.write().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(rooms.entry(room.clone()).or_default())
        })
    }

    /// Forgets a room that was deleted.
    pub(crate) fn forget(&self, room: &RoomId) {
        self.rooms.write().unwrap_or_else(PoisonError::into_inner).remove(room);
    }

    /// Whether this service counts among those that run.
    pub(crate) fn standing(&self) -> &Standing {
        &self.standing
    }

    /// Takes in what time it is in the deployment, ms.
    pub(crate) fn note_time(&self, now_ms: u64) {
        *self.time.lock().unwrap_or_else(PoisonError::into_inner) = Some((now_ms, Instant::now()));
    }

    /// What time it is there by now, ms; `None`: it was not told yet.
    pub(crate) fn about_ms(&self) -> Option<u64> {
        let time = *self.time.lock().unwrap_or_else(PoisonError::into_inner);
        time.map(|(ms, at)| ms + elapsed_ms(at))
    }
}

fn elapsed_ms(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}
