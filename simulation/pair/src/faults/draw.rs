//! Which faults a run has: drawn under the seed, each from a generator of its own.

use super::{Fault, FaultKind};
use crate::Seed;

// === impl Fault ===

impl Fault {
    /// Up to `most` faults of these kinds between `from_ms` and `to_ms`.
    #[must_use]
    pub fn draw(
        seed: Seed,
        kinds: &[FaultKind],
        most: u64,
        (from_ms, to_ms): (u64, u64),
    ) -> Vec<Self> {
        if kinds.is_empty() || most == 0 {
            return Vec::new();
        }
        let count = seed.chance("faults", 0).within(1..most + 1);
        let mut faults: Vec<_> =
            (0..count).map(|number| Self::one(seed, kinds, number, (from_ms, to_ms))).collect();
        faults.sort_by_key(|fault| (fault.at_ms, fault.number));
        faults
    }

    /// Misfortunes come together: many happen right after the one before.
    fn when(seed: Seed, number: u64, (from_ms, to_ms): (u64, u64)) -> u64 {
        let mut chance = seed.chance("fault comes", number);
        if number > 0 && chance.happens(0.4) {
            let before_ms = Self::when(seed, number - 1, (from_ms, to_ms));
            return (before_ms + chance.within(0..600)).min(to_ms);
        }
        chance.within(from_ms..to_ms)
    }

    fn one(seed: Seed, kinds: &[FaultKind], number: u64, (from_ms, to_ms): (u64, u64)) -> Self {
        let mut chance = seed.chance("fault", number);
        let at_ms = Self::when(seed, number, (from_ms, to_ms));
        let kind = *chance.one_of(kinds);
        // Short ones hit what is under way, long ones what has a time limit.
        let lasts_ms = match chance.within(0..3) {
            0 => chance.within(1..100),
            1 => chance.within(100..2_500),
            _ => chance.within(2_500..12_000),
        };
        let farthest_ms = if chance.happens(0.5) { 300 } else { 12_000 };
        let back_ms = chance.within(1..farthest_ms);
        Self { number, at_ms, kind, lasts_ms, back_ms }
    }
}
