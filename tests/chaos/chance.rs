//! Chance under a seed. Every part of a run has a generator of its own, so that leaving one fault out
//! changes nothing for the others. A run on real processes is never twice the same; what it sets out to
//! do is.

use std::ops::Range;

use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A generator.
#[derive(Debug, Clone)]
pub(crate) struct Chance(Xoshiro256PlusPlus);

/// The seed of a run, from which all generators come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seed(pub(crate) u64);

// === impl Seed ===

impl Seed {
    /// The generator of the part called `part` with this number.
    pub(crate) fn chance(self, part: &str, number: u64) -> Chance {
        // FNV-1a over all three: which generator it is matters, not how good the hash is.
        let bytes =
            self.0.to_le_bytes().into_iter().chain(number.to_le_bytes()).chain(part.bytes());
        let mixed = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        Chance(Xoshiro256PlusPlus::seed_from_u64(mixed))
    }
}

// === impl Chance ===

impl Chance {
    /// A number of this range.
    pub(crate) fn within(&mut self, range: Range<u64>) -> u64 {
        if range.is_empty() { range.start } else { self.0.random_range(range) }
    }

    /// Whether something happens that happens with this probability.
    pub(crate) fn happens(&mut self, probability: f64) -> bool {
        self.0.random::<f64>() < probability
    }

    /// One of these.
    pub(crate) fn one_of<'a, T>(&mut self, among: &'a [T]) -> &'a T {
        &among[self.0.random_range(0..among.len())]
    }
}
