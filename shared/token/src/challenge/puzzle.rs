//! Sets puzzles.

use aws_lc_rs::{
    digest::{SHA256, digest},
    hmac,
};
use rand::Rng;

use super::{Puzzle, RoomChallenges};

/// The only algorithm.
pub(super) const ALGORITHM: &str = "SHA-256";
/// What stands in a salt before the time at which its puzzle expires.
pub(super) const EXPIRES: &str = "?expires=";

// === impl RoomChallenges ===

impl RoomChallenges {
    /// A puzzle whose number is at most `max_number`, to be solved before `expires_at`, unix seconds.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "nobody may guess the number")]
    pub fn puzzle(&self, max_number: u32, expires_at: u64) -> Puzzle {
        let mut random = rand::rng();
        let nonce: [u8; 12] = random.random();
        let salt = format!("{}{EXPIRES}{expires_at}&", hex::encode(nonce));
        let challenge = hash(&salt, random.random_range(0..=max_number));
        let signature = hmac::sign(self.puzzles.current(), challenge.as_bytes());
        let signature = hex::encode(signature);
        Puzzle { algorithm: ALGORITHM, challenge, max_number, salt, signature }
    }
}

/// The hash that `number` has behind `salt`, in hex.
pub(super) fn hash(salt: &str, number: u32) -> String {
    hex::encode(digest(&SHA256, format!("{salt}{number}").as_bytes()))
}
