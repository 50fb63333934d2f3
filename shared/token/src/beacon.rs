//! Public randomness beacons: whether a round's signature is genuine, and the randomness in it.
//!
//! A drand chain is a group of parties that sign each round's number together. The signature is
//! one that nobody could know before its round and everyone can check afterwards; its SHA-256 is
//! the round's randomness. Fetching a round is not done here.
//!
//! | public key | scheme | what is signed |
//! |---|---|---|
//! | 96 bytes | `bls-unchained-g1-rfc9380` (quicknet) | the round |
//! | 48 bytes, no previous signature | `pedersen-bls-unchained` | the round |
//! | 48 bytes, previous signature | `pedersen-bls-chained` (the first mainnet) | both |
//!
//! A check takes a few milliseconds of one core. It proves that the holders of this public key
//! signed; that it is the key of the beacon one means is for people to compare.

use drand_verify::{G1Pubkey, G2PubkeyRfc, Pubkey, derive_randomness};
use thiserror::Error;

/// Compressed points of the two groups of BLS12-381, in bytes.
const G1_BYTES: usize = 48;
const G2_BYTES: usize = 96;

/// The first byte of a compressed point at infinity. As a key it would accept any forgery.
const INFINITY: u8 = 0xc0;

/// Why a round's signature proves nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum BeaconError {
    /// The public key is none.
    #[error("the beacon's public key is not a point of 48 or 96 bytes in hex")]
    PublicKey,
    /// The signature is not in hex, or not a point of the group that the key asks for.
    #[error("the beacon's signature is not a point that this public key could have signed")]
    Malformed,
    /// The previous signature is not in hex, or the chain has none, or it is of another length.
    #[error("the beacon's previous signature does not belong to this kind of chain")]
    Previous,
    /// Not what the key's holders signed for this round.
    #[error("the beacon's signature is not of this round and public key")]
    Forged,
}

/// The randomness of `round`, if its signature is genuine. Keys and signatures are in hex; an
/// empty previous signature is none.
///
/// # Errors
/// When it is not, or when it cannot be told.
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
