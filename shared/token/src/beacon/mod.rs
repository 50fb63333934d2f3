//! Public randomness beacons: verifies the signature of a round and derives the randomness from it.
//!
//! A drand chain is a group of parties that sign the number of each round together. Nobody can know
//! the signature before its round, and everyone can verify it afterwards; its SHA-256 is the
//! randomness of the round. Rounds are fetched elsewhere.
//!
//! | public key | scheme | what is signed |
//! |---|---|---|
//! | 96 bytes | `bls-unchained-g1-rfc9380` (quicknet) | the round |
//! | 48 bytes, no previous signature | `pedersen-bls-unchained` | the round |
//! | 48 bytes, previous signature | `pedersen-bls-chained` (the first mainnet) | both |
//!
//! Verifying takes a few milliseconds of one core. It proves that the holders of this public key
//! signed. Whether the key belongs to the intended beacon must be compared by people.

use drand_verify::{G1Pubkey, G2PubkeyRfc, Pubkey, derive_randomness};
use thiserror::Error;

/// The lengths of compressed points of the two groups of BLS12-381, in bytes.
const G1_BYTES: usize = 48;
const G2_BYTES: usize = 96;

/// The first byte of a compressed point at infinity. As a key it would accept any forgery.
const INFINITY: u8 = 0xc0;

/// Why a round could not be verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum BeaconError {
    /// The public key is not a point of 48 or 96 bytes in hex.
    #[error("the beacon's public key is not a point of 48 or 96 bytes in hex")]
    PublicKey,
    /// The signature is not in hex, or not a point of the group that belongs to the key.
    #[error("the beacon's signature is not a point that this public key could have signed")]
    Malformed,
    /// The previous signature is not in hex, has the wrong length, or the chain has none.
    #[error("the beacon's previous signature does not belong to this kind of chain")]
    Previous,
    /// The signature was not made with this key for this round.
    #[error("the beacon's signature is not of this round and public key")]
    Forged,
}

/// The randomness of `round`, if its signature is genuine. Keys and signatures are in hex; an empty
/// previous signature counts as none.
///
/// # Errors
/// When it is not genuine or cannot be verified.
pub fn verify(
    public_key: &str,
    round: u64,
    signature: &str,
    previous_signature: Option<&str>,
) -> Result<[u8; 32], BeaconError> {
    let key = point(public_key, BeaconError::PublicKey)?;
    let signature = point(signature, BeaconError::Malformed)?;
    let previous = hex::decode(previous_signature.unwrap_or_default());
    let previous = previous.map_err(|_| BeaconError::Previous)?;
    let genuine = match (key.len(), previous.len()) {
        (G2_BYTES, 0) => signed_by::<G2PubkeyRfc>(&key, round, &previous, &signature),
        // The first round of a chain signs a seed of 32 bytes instead.
        (G1_BYTES, 0 | G2_BYTES) => signed_by::<G1Pubkey>(&key, round, &previous, &signature),
        (G1_BYTES, 32) if round == 1 => signed_by::<G1Pubkey>(&key, round, &previous, &signature),
        (G1_BYTES | G2_BYTES, _) => Err(BeaconError::Previous),
        _ => Err(BeaconError::PublicKey),
    }?;
    if genuine { Ok(derive_randomness(&signature)) } else { Err(BeaconError::Forged) }
}

fn signed_by<K: Pubkey>(
    key: &[u8],
    round: u64,
    previous: &[u8],
    signature: &[u8],
) -> Result<bool, BeaconError> {
    let key = K::from_variable(key).map_err(|_| BeaconError::PublicKey)?;
    key.verify(round, previous, signature).map_err(|_| BeaconError::Malformed)
}

fn point(hex: &str, error: BeaconError) -> Result<Vec<u8>, BeaconError> {
    let bytes = hex::decode(hex).map_err(|_| error)?;
    if bytes.first() == Some(&INFINITY) { Err(error) } else { Ok(bytes) }
}

#[cfg(test)]
mod tests;
