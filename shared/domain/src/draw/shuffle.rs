//! The swap-or-not shuffle of the Ethereum consensus specification: a keyed permutation of
//! `0..count`, computed for one index at a time.
//!
//! Each round derives a pivot from the seed, which pairs every index with a partner (`flip`), and
//! one bit per pair decides whether the two change places. Every round is a permutation, whatever
//! the bits are; 90 of them leave no trace of the order. It is neither a random number generator
//! nor for secrets: with the seed everything can be computed.

use sha2::{Digest, Sha256};

use super::{Seed, source::Source};

/// `SHUFFLE_ROUND_COUNT` of the specification.
const ROUNDS: usize = 90;

/// The permutation of `0..count` under one seed, with the pivots of all rounds computed.
///
/// The specification counts blocks of 256 positions in 32 bits, so `count` should stay below
/// 2^40; queue numbers end at 2^36.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Shuffle {
    count: u64,
    seed: Seed,
    pivots: [u64; ROUNDS],
}

// === impl Shuffle ===

impl Shuffle {
    pub(super) fn new(count: u64, seed: Seed) -> Self {
        let mut pivots = [0; ROUNDS];
        for (round, slot) in (0..).zip(&mut pivots) {
            *slot = pivot(&seed, round).checked_rem(count).unwrap_or(0);
        }
        Self { count, seed, pivots }
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    pub(super) fn seed(&self) -> &Seed {
        &self.seed
    }

    /// `compute_shuffled_index(index, count, seed)`; `None` if `index` is not below `count`.
    pub(super) fn shuffled(&self, mut index: u64) -> Option<u64> {
        if index >= self.count {
            return None;
        }
        let mut source = Source::new(&self.seed);
        for (round, pivot) in (0..).zip(&self.pivots) {
            let flip = self.flip(*pivot, index);
            if source.bit(round, index.max(flip)) {
                index = flip;
            }
        }
        Some(index)
    }

    /// `(pivot + count - index) % count`, without the overflow and the division: both are below
    /// `count`.
    fn flip(&self, pivot: u64, index: u64) -> u64 {
        if index <= pivot { pivot - index } else { pivot + (self.count - index) }
    }
}

/// The first eight bytes of SHA-256(seed, round), as a number: before it is taken modulo `count`.
fn pivot(seed: &Seed, round: u8) -> u64 {
    let digest = Sha256::new().chain_update(seed).chain_update([round]).finalize();
    let mut low = [0; 8];
    low.copy_from_slice(&digest[..8]);
    u64::from_le_bytes(low)
}
