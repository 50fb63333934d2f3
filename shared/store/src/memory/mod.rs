//! What this service has seen of each room, in answers and pushes: which state of the room it was, and what time it
//! is there. Every call tells it to the script (`lib/incarnation.lua`), which so notices a Redis that went back.

mod places;
mod room_memory;
mod seal;
mod seats;
mod watermarks;

use std::sync::{Arc, PoisonError, RwLock};

use rustc_hash::FxHashMap;
use vestibule_domain::RoomId;

pub use self::places::PlaceBits;
pub(crate) use self::{
    places::{Places, PlacesChunk},
    room_memory::{Recollection, RoomMemory},
    seal::Seal,
};
pub use self::{
    seats::{Ending, Seat},
    watermarks::Highest,
};

/// The memory of all rooms.
#[derive(Debug, Default)]
pub(crate) struct Memory(RwLock<FxHashMap<RoomId, Arc<RoomMemory>>>);

// === impl Memory ===

impl Memory {
    /// That of `room`, which may be empty.
    pub(crate) fn room(&self, room: &RoomId) -> Arc<RoomMemory> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner).get(room).cloned();
        known.unwrap_or_else(|| {
            let mut rooms = self.0.write().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(rooms.entry(room.clone()).or_default())
        })
    }

    /// Forgets a room that was deleted.
    pub(crate) fn forget(&self, room: &RoomId) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).remove(room);
    }
}
