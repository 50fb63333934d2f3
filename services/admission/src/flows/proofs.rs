//! Proofs that callers have the keys that their sessions are bound to (`DPoP`). What is a good proof is
//! [`vestibule_token::verify_proof`]'s; here is remembered which have come to this instance, so that a copy is worth nothing.

use std::{
    collections::BTreeSet,
    sync::{Mutex, PoisonError},
};

use vestibule_token::{PROOF_SECONDS, Proof, ProofError, ProvenRequest, Thumbprint, verify_proof};

/// For how long a proof can be good: its clock may be ahead, and it is good afterwards.
const GOOD_SECONDS: u64 = 2 * PROOF_SECONDS;

/// So many are remembered for certain, 48 bytes each: of more in two minutes the oldest are forgotten.
const REMEMBERED: usize = 250_000;

/// The proofs that have come.
#[derive(Debug, Default)]
pub(crate) struct Proofs(Mutex<Seen>);

/// Why a call is not its visitor's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unproven {
    /// There is no proof.
    #[error("there is none, and the session is bound to a key")]
    Missing,
    /// There are several.
    #[error("there are several")]
    Several,
    /// It is not good.
    #[error(transparent)]
    NotGood(#[from] ProofError),
    /// It has come before.
    #[error("it was used before; make a new one, with a jti of its own, for each request")]
    Used,
    /// It is of another key.
    #[error("it is of another key than the session is bound to")]
    OtherKey,
}

/// Two generations of names: when the younger one is old enough, or full, the older one is forgotten.
#[derive(Debug, Default)]
struct Seen {
    young: BTreeSet<[u8; 16]>,
    old: BTreeSet<[u8; 16]>,
    /// When the younger began, unix seconds.
    since: u64,
}

// === impl Proofs ===

impl Proofs {
    /// The key that `proof` proves, which has not come before. `is_again`: which a gateway brings again for the page, and
    /// has not done so before.
    ///
    /// # Errors
    /// [`Unproven`].
    pub(crate) fn take(
        &self,
        proof: &str,
        request: ProvenRequest<'_>,
        is_again: bool,
    ) -> Result<Thumbprint, Unproven> {
        let Proof { key, mut name } = verify_proof(proof, request)?;
        if is_again {
            name = name.map(|byte| !byte);
        }
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.is_new(name, request.now) { Ok(key) } else { Err(Unproven::Used) }
    }
}

// === impl Seen ===

impl Seen {
    fn is_new(&mut self, name: [u8; 16], now: u64) -> bool {
        if now.saturating_sub(self.since) > GOOD_SECONDS || self.young.len() >= REMEMBERED {
            self.old = std::mem::take(&mut self.young);
            self.since = now;
        }
        !self.old.contains(&name) && self.young.insert(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(number: usize) -> [u8; 16] {
        u128::to_be_bytes(number as u128)
    }

    #[test]
    fn a_proof_is_remembered_for_as_long_as_it_can_be_good() {
        let mut seen = Seen::default();
        for began in [0, 100, 1_000] {
            assert!(seen.is_new(name(1), began + 10_000));
            for after in [0, 1, GOOD_SECONDS] {
                assert!(!seen.is_new(name(1), began + 10_000 + after), "{began} {after}");
            }
            seen = Seen::default();
        }
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let mut seen = Seen::default();
        let all = 3 * REMEMBERED;
        assert!((0..all).all(|number| seen.is_new(name(number), 1_000)));
        assert!(seen.young.len() + seen.old.len() <= 2 * REMEMBERED);
        assert!(((all - REMEMBERED)..all).all(|number| !seen.is_new(name(number), 1_000)));
    }
}
