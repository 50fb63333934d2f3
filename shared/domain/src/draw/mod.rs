//! The draw: everyone who came before the start is given a place by chance, in a way that anyone
//! can recompute.
//!
//! No list is stored. A place is a function of the queue number, of the number of participants and
//! of a seed of 32 bytes: the swap-or-not shuffle of the Ethereum consensus specification
//! (`compute_shuffled_index`, 90 rounds). Each participant gets a different place, and every place
//! from the first to the last is taken.
//!
//! The hash is SHA-256, the only cryptography in this crate. It needs no secret: a draw is a public
//! computation over a published seed. Where the seed comes from is in `vestibule-token`.

mod before_draw;
mod pool;
mod published;
mod record;
mod seed;
mod shuffle;
mod source;
mod written;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::MAX_QUEUE_NUMBER;
pub use pool::Pool;
pub use published::{foremost, published};
pub use record::{BeaconOutcome, BeaconRecord, DrawFault, DrawRecord, DrawState, METHOD};
pub use seed::{Seed, commitment, from_hex, mix, to_hex};
use shuffle::Shuffle;
pub use written::DrawError;
use written::Written;

/// One draw: the queue numbers `first` to `first + count - 1` took part, and are given the
/// positions of that same range.
///
/// Reads and writes as `{"first": 1, "count": 1000, "seed": "<64 hex digits>"}`.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct Draw {
    first: u64,
    shuffle: Shuffle,
}

// === impl Draw ===

impl Draw {
    /// The draw of the `count` queue numbers from `first` on. Costs 90 hashes, once.
    #[must_use]
    pub fn new(first: u64, count: u64, seed: Seed) -> Self {
        Self { first, shuffle: Shuffle::new(count, seed) }
    }

    /// As [`Self::new`], for numbers that come from outside.
    ///
    /// # Errors
    /// When they reach past the highest queue number that a visitor can hold.
    pub fn checked(first: u64, count: u64, seed: Seed) -> Result<Self, DrawError> {
        match first.checked_add(count) {
            Some(end) if end <= MAX_QUEUE_NUMBER + 1 => Ok(Self::new(first, count, seed)),
            _ => Err(DrawError::TooFar { first, count }),
        }
    }

    /// The lowest queue number that took part, and the first position that was drawn for.
    #[must_use]
    pub fn first(&self) -> u64 {
        self.first
    }

    /// How many took part.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.shuffle.count()
    }

    /// The final seed: what the places were computed from.
    #[must_use]
    pub fn seed(&self) -> &Seed {
        self.shuffle.seed()
    }

    /// Whether queue number `number` took part.
    #[must_use]
    pub fn contains(&self, number: u64) -> bool {
        self.index(number).is_some()
    }

    /// The position that queue number `number` drew; `None` if it did not take part. Costs 90
    /// hashes and no memory.
    #[must_use]
    pub fn position(&self, number: u64) -> Option<u64> {
        self.first.checked_add(self.shuffle.shuffled(self.index(number)?)?)
    }

    /// The position of queue number `number` in a line in which `draws` were held. A number that
    /// took part in none of them is its own position. The draws must not share any number.
    #[must_use]
    pub fn position_in(draws: &[Self], number: u64) -> u64 {
        draws.iter().find_map(|draw| draw.position(number)).unwrap_or(number)
    }

    fn index(&self, number: u64) -> Option<u64> {
        number.checked_sub(self.first).filter(|index| *index < self.count())
    }
}

/// Without the pivots, which follow from the seed.
impl fmt::Debug for Draw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Draw")
            .field("first", &self.first)
            .field("count", &self.count())
            .field("seed", &to_hex(self.seed()))
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
