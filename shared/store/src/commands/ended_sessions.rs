//! How many sessions of a room were completed and abandoned.

use serde::Deserialize;
use vestibule_domain::RoomId;

use super::RoomOnly;
use crate::{Store, StoreError, scripts};

/// Sessions that somebody has ended, since the reset.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub struct EndedSessions {
    /// Whose visitors had done what they came for.
    pub completed: u64,
    /// Whose visitors had given up.
    pub abandoned: u64,
}

impl Store {
    /// Counts them. What Redis has lost is not counted.
    ///
    /// # Errors
    /// [`StoreError::RoomMissing`]; otherwise see [`StoreError`].
    pub async fn ended_sessions(&self, room: &RoomId) -> Result<EndedSessions, StoreError> {
        self.call(&scripts::ENDED_SESSIONS, room, &RoomOnly { room }).await
    }
}
