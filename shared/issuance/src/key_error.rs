//! Why the key ring cannot be used.

use vestibule_store::StoreError;
use vestibule_token::{KeyRingError, SigningKeyError};

/// Why the key ring cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// Redis did not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The ring is not sealed under this deployment's secret, or is damaged.
    #[error(transparent)]
    Ring(#[from] KeyRingError),
    /// No key could be made.
    #[error(transparent)]
    Key(#[from] SigningKeyError),
    /// The ring's text cannot be read.
    #[error("the key ring in redis cannot be read: {0}")]
    Text(#[from] serde_json::Error),
    /// A service runs that could not read the ring with such a key in it.
    #[error(
        "{0} runs, and its release reads no keys that sign with ES256: \
         replace every service of an older release first, or choose RS256"
    )]
    Unread(String),
    /// There is no key yet: no controller has run.
    #[error("there is no signing key yet: start a controller")]
    Missing,
    /// The task that made the key was cancelled.
    #[error("making a key was interrupted")]
    Interrupted,
}

// === impl KeyError ===

impl KeyError {
    /// Whether retrying cannot help: the keyspace belongs to a newer release, or the ring cannot be
    /// opened with this secret, or cannot be read.
    #[must_use]
    pub fn is_hopeless(&self) -> bool {
        match self {
            Self::Store(error) => {
                matches!(error, StoreError::NewerSchema { .. } | StoreError::Incompatible { .. })
            }
            Self::Ring(_) | Self::Text(_) => true,
            Self::Key(_) | Self::Unread(_) | Self::Missing | Self::Interrupted => false,
        }
    }
}
