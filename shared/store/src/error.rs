//! What can go wrong between a service and Redis. The services translate it to HTTP.

use std::sync::Arc;

use redis::RedisError;
use vestibule_domain::FormatConflict;

/// Why a call to the store failed.
///
/// Every call can fail with [`Self::Unavailable`] and [`Self::Unexpected`]. Other errors are named at
/// the calls that can fail with them.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// Redis cannot be reached, or did not answer in time.
    #[error("redis is not available: {0}")]
    Unavailable(Arc<str>),
    /// Redis does not hold this room: it never existed, or it was lost and is being restored.
    #[error("redis does not hold this room")]
    RoomMissing,
    /// What Redis holds of this room may not be its latest state: nobody but the leader changes it until
    /// the services have said what they remember of it.
    #[error("redis may have gone back to an older state of this room")]
    Rewound,
    /// Another controller leads, in a later term.
    #[error("another controller leads, in term {epoch}")]
    Fenced {
        /// The epoch of its term.
        epoch: u64,
    },
    /// More work is waiting for Redis than can be done in time.
    #[error("too much work is waiting for redis")]
    Overloaded,
    /// Redis holds or returned something that this release cannot read.
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
    /// A service runs that this release cannot run beside.
    #[error("{instance} runs, and {conflict}: stop it first, or start a release between the two")]
    Incompatible {
        /// The service.
        instance: Arc<str>,
        /// Why.
        conflict: FormatConflict,
    },
    /// An address that cannot be used.
    #[error("redis address: {0}")]
    Address(Arc<str>),
}

/// The code of a refusal because the service was heard of on another server: see `lib/incarnation.lua`.
pub(crate) const STRANGER: &str = "STRANGER";

/// The code of a refusal because too much is asked at once: of a call that was not sent, or by `lib/room.lua`.
pub(crate) const CROWDED: &str = "CROWDED";

/// The code of an answer by a server that does not know the script.
pub(crate) const NO_SCRIPT: &str = "NOSCRIPT";

// === impl StoreError ===

impl StoreError {
    /// Whether the same call may succeed a moment later.
    #[must_use]
    pub fn is_temporary(&self) -> bool {
        match self {
            Self::Unavailable(_) | Self::RoomMissing | Self::Rewound | Self::Overloaded => true,
            Self::Fenced { .. }
            | Self::Unexpected(_)
            | Self::NewerSchema { .. }
            | Self::Incompatible { .. }
            | Self::Address(_) => false,
        }
    }

    /// What kind it is, in a word: for traces.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Unavailable(_) => "unavailable",
            Self::RoomMissing => "room_missing",
            Self::Rewound => "rewound",
            Self::Fenced { .. } => "fenced",
            Self::Overloaded => "overloaded",
            Self::Unexpected(_) => "unexpected",
            Self::NewerSchema { .. } => "newer_schema",
            Self::Incompatible { .. } => "incompatible",
            Self::Address(_) => "address",
        }
    }

    pub(crate) fn unexpected(what: impl std::fmt::Display) -> Self {
        Self::Unexpected(what.to_string().into())
    }
}

impl From<RedisError> for StoreError {
    fn from(error: RedisError) -> Self {
        match error.code() {
            Some("NOROOM") => Self::RoomMissing,
            Some("REWOUND" | STRANGER) => Self::Rewound,
            Some(CROWDED) => Self::Overloaded,
            Some("FENCED") => match later_epoch(&error) {
                Some(epoch) => Self::Fenced { epoch },
                None => Self::unexpected(error),
            },
            // Temporary: loading, failing over, no longer the one to ask, not yet told of a script, out of memory, busy
            // with somebody else's script, or told not to write without replicas or a disk.
            Some(
                "LOADING" | "READONLY" | "MASTERDOWN" | "CLUSTERDOWN" | "TRYAGAIN" | "MOVED"
                | "ASK" | NO_SCRIPT | "OOM" | "MISCONF" | "NOREPLICAS" | "BUSY",
            ) => Self::Unavailable(error.to_string().into()),
            _ if turns_away(&error) => Self::Unavailable(error.to_string().into()),
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

/// Whether a server does not take us, now: it wants another password, has taken a right away, or has too many clients.
/// That is for its operator to mend, and until then nothing can be asked, as if it were away.
pub(crate) fn turns_away(error: &RedisError) -> bool {
    match error.code() {
        Some("NOAUTH" | "WRONGPASS" | "NOPERM") => true,
        Some("ERR") => error.detail().is_some_and(|why| {
            // The second one is said within scripts.
            why.contains("max number of clients") || why.contains("can't run this command")
        }),
        _ => false,
    }
}

/// The epoch in a refusal by `fenced` in `scripts/lib/room.lua`; Redis adds the script's name after it.
fn later_epoch(refusal: &RedisError) -> Option<u64> {
    refusal.detail()?.split_ascii_whitespace().next()?.parse().ok()
}

impl From<deadpool_redis::PoolError> for StoreError {
    fn from(error: deadpool_redis::PoolError) -> Self {
        Self::Unavailable(error.to_string().into())
    }
}

#[cfg(test)]
mod tests {
    use redis::Value;

    use super::*;

    #[test]
    fn a_server_that_takes_nobody_is_as_good_as_away() {
        for told in [
            "NOAUTH Authentication required.",
            "NOPERM User admission has no permissions to run the 'evalsha' command",
            "ERR max number of clients reached",
            "ERR The user executing the script can't run this command or subcommand script: 1f",
        ] {
            let error = redis::parse_redis_value(format!("-{told}\r\n").as_bytes())
                .and_then(Value::extract_error)
                .expect_err("an error");
            let error = StoreError::from(error);
            assert!(matches!(error, StoreError::Unavailable(_)), "{told}: {error:?}");
        }
    }
}
