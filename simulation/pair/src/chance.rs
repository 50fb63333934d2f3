//! Chance under a seed. Every part of a run has a generator of its own, so that leaving one visitor or
//! one fault out changes nothing for the others; that is what makes a failing run small.

use std::{
    ops::Range,
    sync::{Arc, Mutex, PoisonError},
};

use rand::{Rng, RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use vestibule_runtime::Random;

/// A generator. The same on every machine and in every release.
#[derive(Debug, Clone)]
pub struct Chance(Xoshiro256PlusPlus);

/// The seed of a run, from which all generators come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seed(pub u64);

// === impl Seed ===

impl Seed {
    /// The generator of the part called `part` with this number.
    #[must_use]
    pub fn chance(self, part: &str, number: u64) -> Chance {
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
    pub fn within(&mut self, range: Range<u64>) -> u64 {
        if range.is_empty() { range.start } else { self.0.random_range(range) }
    }

    /// Whether something happens that happens with this probability.
    pub fn happens(&mut self, probability: f64) -> bool {
        probability > 0.0 && self.unit() < probability
    }

    /// A number in `0.0..1.0`.
    pub fn unit(&mut self) -> f64 {
        self.0.random()
    }

    /// A time with this mean, spread as the waits between independent events are.
    pub fn spread(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.unit()).ln()
    }

    /// One of these.
    ///
    /// # Panics
    /// When there is none.
    pub fn one_of<'a, T>(&mut self, among: &'a [T]) -> &'a T {
        &among[self.0.random_range(0..among.len())]
    }

    /// The source of a service's random numbers.
    #[must_use]
    pub fn into_random(self) -> Random {
        let generator = Arc::new(Mutex::new(self.0));
        Random::new(move || generator.lock().unwrap_or_else(PoisonError::into_inner).next_u64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_generators_of_their_own_and_the_same_every_time() {
        let first = |part, number| Seed(7).chance(part, number).within(0..1_000_000);
        assert_eq!(first("visitor", 3), first("visitor", 3));
        assert_ne!(first("visitor", 3), first("visitor", 4));
        assert_ne!(first("visitor", 3), first("fault", 3));
        let other = Seed(8).chance("visitor", 3).within(0..1_000_000);
        assert_ne!(first("visitor", 3), other);
    }
}
