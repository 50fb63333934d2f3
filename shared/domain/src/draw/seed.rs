//! Seeds: their commitment, mixing with a beacon's randomness, and hexadecimal form.

use sha2::{Digest, Sha256};

/// A seed, or a beacon's randomness: 32 bytes.
pub type Seed = [u8; 32];

/// The commitment to `seed`, published before anyone queues: its SHA-256, in hex. It does not
/// reveal the seed, and no other seed has it.
#[must_use]
pub fn commitment(seed: &Seed) -> String {
    hex::encode(Sha256::digest(seed))
}

/// The final seed of a draw with a beacon: SHA-256 of the committed seed followed by the beacon's
/// randomness. Neither side alone decides it.
#[must_use]
pub fn mix(committed_seed: &Seed, randomness: &Seed) -> Seed {
    Sha256::new().chain_update(committed_seed).chain_update(randomness).finalize().into()
}

/// `seed` as 64 hex digits.
#[must_use]
pub fn to_hex(seed: &Seed) -> String {
    hex::encode(seed)
}

/// The seed written as 64 hex digits, in either case; `None` for anything else.
#[must_use]
pub fn from_hex(text: &str) -> Option<Seed> {
    let mut seed = [0; 32];
    hex::decode_to_slice(text, &mut seed).ok()?;
    Some(seed)
}
