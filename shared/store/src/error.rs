//! What can go wrong between a service and Redis. It knows no HTTP: the services turn it into
//! answers.

use std::sync::Arc;

use redis::RedisError;

/// Why the store did not do what it was asked.
///
/// Every call can fail with [`Self::Unavailable`] and [`Self::Unexpected`]; what else a call can
/// fail with is said there.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// Redis cannot be reached, or did not answer in time.
    #[error("redis is not available: {0}")]
    Unavailable(Arc<str>),
    /// Redis does not hold this room: it never existed, or it was lost and is being restored.
    #[error("redis does not hold this room")]
    RoomMissing,
    /// Another controller leads by now.
    #[error("another controller leads, in term {epoch}")]
    Fenced {
        /// The epoch of its term.
        epoch: u64,
    },
    /// More work is waiting for Redis than can be done in time.
    #[error("too much work is waiting for redis")]
    Overloaded,
    /// Redis holds, or answered, something that this release does not understand.
    #[error("unexpected data in redis: {0}")]
    Unexpected(Arc<str>),
    /// The keyspace was made by a newer release.
    #[error("the keyspace has schema version {found}, this release knows up to {known}")]
    NewerSchema {
        /// The version found.
        found: u32,
        /// The newest that this release knows.
        known: u32,
    },
    /// An address that cannot be used.
    #[error("redis address: {0}")]
    Address(Arc<str>),
}

// === impl StoreError ===

impl StoreError {
    pub(crate) fn unexpected(what: impl std::fmt::Display) -> Self {
        Self::Unexpected(what.to_string().into())
    }
}

impl From<RedisError> for StoreError {
    fn from(error: RedisError) -> Self {
        match error.code() {
            Some("NOROOM") => Self::RoomMissing,
            Some("FENCED") => match later_epoch(&error) {
                Some(epoch) => Self::Fenced { epoch },
                None => Self::unexpected(error),
            },
            // Loading, failing over, read-only replica, out of memory: it may pass.
            Some("LOADING" | "READONLY" | "MASTERDOWN" | "OOM" | "CLUSTERDOWN" | "TRYAGAIN") => {
                Self::Unavailable(error.to_string().into())
            }
            Some(_) => Self::unexpected(error),
            None if error.is_io_error() || error.is_timeout() || error.is_connection_dropped() => {
                Self::Unavailable(error.to_string().into())
            }
            None => match error.kind() {
                redis::ErrorKind::UnexpectedReturnType | redis::ErrorKind::Parse => {
                    Self::unexpected(error)
                }
                _ => Self::Unavailable(error.to_string().into()),
            },
        }
    }
}

/// The epoch in a refusal of `scripts/lib/room.lua`; Redis adds the name of the script to it.
fn later_epoch(refusal: &RedisError) -> Option<u64> {
    refusal.detail()?.split_ascii_whitespace().next()?.parse().ok()
}

impl From<deadpool_redis::PoolError> for StoreError {
    fn from(error: deadpool_redis::PoolError) -> Self {
        Self::Unavailable(error.to_string().into())
    }
}
