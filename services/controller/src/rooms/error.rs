//! Why a room cannot be found, and how both APIs say so.

use vestibule_issuance::{aws::AwsError, problem_of};
use vestibule_runtime::{Problem, ProblemType};
use vestibule_store::StoreError;

use crate::access::Refused;

/// Why there is no room to answer with.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RoomError {
    /// There is no such room.
    #[error("there is no such room")]
    Unknown,
    /// This instance has begun a moment ago, and does not know yet what all rooms are called.
    #[error("it is not known yet whether there is such a room")]
    NotKnownYet,
    /// The caller is not for this room.
    #[error(transparent)]
    Forbidden(#[from] Refused),
    /// The store failed; [`StoreError::RoomMissing`] is a room that Redis has lost.
    #[error(transparent)]
    Store(#[from] StoreError),
}

// === impl RoomError ===

impl From<RoomError> for Problem {
    fn from(error: RoomError) -> Self {
        match error {
            RoomError::Unknown => Self::new(ProblemType::RoomNotFound),
            RoomError::NotKnownYet => not_known_yet(),
            RoomError::Forbidden(refused) => refused.into(),
            RoomError::Store(error) => problem_of(&error),
        }
    }
}

impl From<RoomError> for AwsError {
    fn from(error: RoomError) -> Self {
        match error {
            RoomError::Unknown => Self::InvalidEvent,
            RoomError::NotKnownYet => Self::Unavailable(not_known_yet()),
            RoomError::Forbidden(refused) => refused.into(),
            RoomError::Store(error) => error.into(),
        }
    }
}

fn not_known_yet() -> Problem {
    let detail = "this controller has just started, and reads the rooms still; nothing was changed";
    Problem::new(ProblemType::RedisUnavailable).detail(detail)
}
