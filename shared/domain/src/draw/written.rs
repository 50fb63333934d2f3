//! The JSON form of a draw, and the errors of reading one. The pivots are not written: they are
//! computed again.

use serde::{Deserialize, Serialize};

use super::{Draw, Seed};

/// The JSON form of a [`Draw`].
#[derive(Serialize, Deserialize)]
pub(super) struct Written {
    first: u64,
    count: u64,
    #[serde(with = "hex::serde")]
    seed: Seed,
}

/// Why the data cannot be a draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DrawError {
    /// Its numbers would reach past the highest that a visitor can hold.
    #[error("a draw of {count} numbers from {first} on reaches past the highest queue number")]
    TooFar {
        /// The first number.
        first: u64,
        /// How many.
        count: u64,
    },
}

impl TryFrom<Written> for Draw {
    type Error = DrawError;

    fn try_from(Written { first, count, seed }: Written) -> Result<Self, DrawError> {
        Self::checked(first, count, seed)
    }
}

impl From<Draw> for Written {
    fn from(draw: Draw) -> Self {
        Self { first: draw.first(), count: draw.count(), seed: *draw.seed() }
    }
}
