//! Checks solutions of puzzles: base64 of a JSON document, as ALTCHA's clients send it.

use aws_lc_rs::hmac;
use base64::{
    Engine, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use serde::Deserialize;

use super::{
    ChallengeError, Mark, is_signed,
    puzzle::{ALGORITHM, EXPIRES, hash},
};
use crate::secret::Derived;

const CONFIG: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
/// ALTCHA's clients send this one.
const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, CONFIG);
/// The waiting page sends this one, whose characters may stand in any header.
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, CONFIG);

/// A puzzle with its number. What else clients tell, such as how long it took, is left out.
#[derive(Debug, Deserialize)]
struct Solution {
    algorithm: String,
    challenge: String,
    number: u32,
    salt: String,
    signature: String,
}

pub(super) fn check(
    keys: &Derived<hmac::Key>,
    text: &str,
    now: u64,
) -> Result<Mark, ChallengeError> {
    let solution = read(text).ok_or(ChallengeError::Malformed)?;
    let Solution { algorithm, challenge, number, salt, signature } = &solution;
    let expires_at = expiry(salt).ok_or(ChallengeError::Malformed)?;
    let signature = hex::decode(signature).map_err(|_| ChallengeError::Malformed)?;
    if algorithm != ALGORITHM {
        return Err(ChallengeError::Malformed);
    }
    if !is_signed(keys, challenge, &signature) {
        return Err(ChallengeError::Foreign);
    }
    if hash(salt, *number) != *challenge {
        return Err(ChallengeError::Wrong);
    }
    // Only now it is certain that the salt is the puzzle's.
    if expires_at <= now {
        return Err(ChallengeError::Expired);
    }
    Ok(Mark::of(challenge, expires_at))
}

fn read(text: &str) -> Option<Solution> {
    let text = text.trim();
    let json = URL_SAFE.decode(text).or_else(|_| STANDARD.decode(text)).ok()?;
    serde_json::from_slice(&json).ok()
}

/// The time in a salt. What follows the salt is digits only, so that no other salt and number read the same.
fn expiry(salt: &str) -> Option<u64> {
    let (_, expires_at) = salt.strip_suffix('&')?.split_once(EXPIRES)?;
    expires_at.parse().ok()
}
