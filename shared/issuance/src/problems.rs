//! The store's errors as problem documents: the one place where they meet HTTP.

use vestibule_runtime::problem::{Problem, ProblemType};
use vestibule_store::StoreError;

/// What a caller is told when the store did not do what it was asked.
#[must_use]
pub fn problem_of(error: &StoreError) -> Problem {
    match error {
        StoreError::Unavailable(_) => {
            tracing::debug!(%error, "redis is not available");
            Problem::new(ProblemType::RedisUnavailable)
        }
        StoreError::RoomMissing => Problem::new(ProblemType::RedisUnavailable)
            .detail("the room is being restored; your place is kept"),
        StoreError::Overloaded => Problem::new(ProblemType::Overloaded),
        StoreError::Fenced { .. }
        | StoreError::Unexpected(_)
        | StoreError::NewerSchema { .. }
        | StoreError::Address(_) => Problem::internal(error),
    }
}
