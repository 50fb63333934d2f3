//! What a room's check-ins are kept under: its state changes with a reset and with a restoration.

use vestibule_domain::RoomId;

/// A room in one state.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RoomState {
    /// Which room.
    pub(crate) room: RoomId,
    /// Counts its resets.
    pub(crate) reset_epoch: u64,
    /// Counts its restorations.
    pub(crate) generation: u32,
}
