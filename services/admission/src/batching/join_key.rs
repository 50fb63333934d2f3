//! Which newcomers may share a call: those of one room who join in the same way, and for whom the same limits hold.

use vestibule_domain::{RoomId, network_limits::NetworkLimits};
use vestibule_store::{JoinMode, KnownRoom};

/// Newcomers who may share a call.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct JoinKey {
    /// The room.
    pub(super) room: RoomId,
    /// How they join.
    pub(super) mode: JoinMode,
    /// Which limits hold for them.
    pub(super) reach: Reach,
}

/// Which limits per network hold for a newcomer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Reach {
    /// None.
    Unlimited,
    /// Those for private networks.
    Private,
    /// Those for all others.
    Public,
}

// === impl JoinKey ===

impl JoinKey {
    /// The limits that hold for these newcomers.
    pub(super) fn limits(&self, known: &KnownRoom) -> NetworkLimits {
        match self.reach {
            Reach::Unlimited => NetworkLimits::default(),
            reach => known.snapshot().settings.network_limits(reach == Reach::Private),
        }
    }
}
