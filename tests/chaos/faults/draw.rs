//! Which faults a run has: drawn under the seed, each from a generator of its own.

use super::{Fault, FaultKind};
use crate::chance::Seed;

/// How far Redis goes back at most, ms: longer than anything in a batch, shorter than a session.
const FARTHEST_MS: u64 = 8_000;

// === impl Fault ===

impl Fault {
    /// So many faults of these kinds between `from_ms` and `to_ms`. Of each kind comes one before any
    /// comes again.
    pub(crate) fn draw(
        seed: Seed,
        kinds: &[FaultKind],
        count: u64,
        (from_ms, to_ms): (u64, u64),
    ) -> Vec<Self> {
        if kinds.is_empty() {
            return Vec::new();
        }
        let mut left: Vec<FaultKind> = Vec::new();
        let mut chance = seed.chance("kinds", 0);
        let mut faults: Vec<_> = (0..count)
            .map(|number| {
                if left.is_empty() {
                    left = kinds.to_vec();
                }
                let place = chance.within(0..left.len() as u64);
                let kind = left.swap_remove(usize::try_from(place).unwrap_or(0));
                Self::one(seed, kind, number, (from_ms, to_ms))
            })
            .collect();
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

    fn one(seed: Seed, kind: FaultKind, number: u64, span: (u64, u64)) -> Self {
        let mut chance = seed.chance("fault", number);
        // Short ones hit what is under way, long ones what has a time limit.
        let lasts_ms = match chance.within(0..3) {
            0 => chance.within(1..100),
            1 => chance.within(100..2_500),
            _ => chance.within(2_500..8_000),
        };
        let farthest_ms = if chance.happens(0.5) { 300 } else { FARTHEST_MS };
        let back_ms = chance.within(1..farthest_ms);
        Self { number, at_ms: Self::when(seed, number, span), kind, lasts_ms, back_ms }
    }
}

#[test]
fn a_seed_draws_the_same_faults_again_and_every_kind_before_one_comes_twice() {
    let kinds = FaultKind::ALL;
    let draw = |seed| Fault::draw(Seed(seed), kinds, kinds.len() as u64, (1_000, 9_000));
    assert_eq!(draw(7), draw(7));
    assert_ne!(draw(7), draw(8));
    let mut drawn: Vec<_> = draw(7).iter().map(|fault| fault.kind).collect();
    drawn.sort();
    assert_eq!(drawn, kinds);
    assert!(draw(7).iter().all(|fault| (1_000..=9_000).contains(&fault.at_ms)));
    assert!(Fault::draw(Seed(7), &[], 5, (0, 1)).is_empty());
}
