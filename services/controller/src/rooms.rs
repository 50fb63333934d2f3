//! Looking up a room: as Redis holds it this moment, or as this instance remembers it; and telling
//! a room that never was from one that Redis has lost.

use std::sync::Arc;

use vestibule_domain::{RoomId, RoomSnapshot};
use vestibule_issuance::{aws::AwsError, problem_of};
use vestibule_runtime::{Problem, ProblemType};
use vestibule_store::{KnownRoom, StoreError};

use crate::state::Controller;

/// Why there is no room to answer with.
#[derive(Debug, thiserror::Error)]
pub enum RoomError {
    /// There is no such room.
    #[error("there is no such room")]
    Unknown,
    /// Redis cannot tell now; a room that it has lost is [`StoreError::RoomMissing`].
    #[error(transparent)]
    Store(#[from] StoreError),
}

// === impl Controller ===

impl Controller {
    /// The room as Redis holds it this moment.
    ///
    /// # Errors
    /// [`RoomError`].
    pub async fn read_room(&self, room: &RoomId) -> Result<RoomSnapshot, RoomError> {
        match self.store.read_snapshot(room).await? {
            Some(snapshot) => Ok(snapshot),
            None => Err(self.explain(room, StoreError::RoomMissing).await),
        }
    }

    /// The room that AWS-style clients call `event_id`.
    ///
    /// # Errors
    /// [`RoomError`]; anything that cannot be a room's name is unknown.
    pub async fn event(&self, event_id: &str) -> Result<Arc<KnownRoom>, RoomError> {
        if let Some(known) = self.feed.room(event_id) {
            return Ok(known);
        }
        // It may be so new that the push has not come yet.
        let room = RoomId::new(event_id).map_err(|_| RoomError::Unknown)?;
        let snapshot = self.read_room(&room).await?;
        self.feed.receive(snapshot).await;
        self.feed.room(event_id).ok_or(RoomError::Unknown)
    }

    /// What an error of the store means for `room`: a room that is missing was lost if it is
    /// listed, or if the keyspace is not whole; else it never was, or was deleted.
    pub async fn explain(&self, room: &RoomId, error: StoreError) -> RoomError {
        if !matches!(error, StoreError::RoomMissing) {
            return error.into();
        }
        match self.is_lost(room).await {
            Ok(true) => error.into(),
            Ok(false) => RoomError::Unknown,
            Err(other) => other.into(),
        }
    }

    /// Refuses to change rooms in a keyspace that waits to be restored: what was lost would be
    /// overwritten.
    ///
    /// # Errors
    /// 503 until the leader has stamped the keyspace.
    pub async fn require_whole_keyspace(&self) -> Result<(), Problem> {
        match self.store.check_schema().await {
            Ok(0) => Err(Problem::new(ProblemType::RedisUnavailable)),
            Ok(_) => Ok(()),
            Err(error) => Err(problem_of(&error)),
        }
    }

    /// Takes in what has just been changed, without waiting for the push.
    pub async fn take_in(&self, room: &RoomId) {
        if let Ok(Some(snapshot)) = self.store.read_snapshot(room).await {
            self.feed.receive(snapshot).await;
        }
    }

    async fn is_lost(&self, room: &RoomId) -> Result<bool, StoreError> {
        Ok(self.store.rooms().await?.contains(room) || self.store.schema().await? == 0)
    }
}

// === impl RoomError ===

impl From<RoomError> for Problem {
    fn from(error: RoomError) -> Self {
        match error {
            RoomError::Unknown => Self::new(ProblemType::RoomNotFound),
            RoomError::Store(error) => problem_of(&error),
        }
    }
}

impl From<RoomError> for AwsError {
    fn from(error: RoomError) -> Self {
        match error {
            RoomError::Unknown => Self::InvalidEvent,
            RoomError::Store(error) => error.into(),
        }
    }
}
