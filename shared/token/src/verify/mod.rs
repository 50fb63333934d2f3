//! Verifies an access token, for gateways. The JWT library checks the signature. Times are checked
//! here, because the current time is a parameter and the library would use the clock and a
//! tolerance of one minute. Whether the session was ended early is not checked.

use std::sync::LazyLock;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use jsonwebtoken::{Algorithm, DecodingKey, Validation, errors::ErrorKind};
use serde::Deserialize;
use thiserror::Error;
use vestibule_domain::RoomId;

use crate::{Claims, KeyAlgorithm, KeyRing, TokenUse};

/// Why a token was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum VerifyError {
    /// Not a JWT, or with other claims.
    #[error("not an access token")]
    Malformed,
    /// Signed with another algorithm than its key's, or not signed.
    #[error("the token is not signed with its key's algorithm, RS256 or ES256")]
    Algorithm,
    /// Signed by an unknown key, by one past its time, or without the name of a key.
    #[error("the token's key is unknown")]
    UnknownKey,
    /// The signature does not match.
    #[error("the token's signature is wrong")]
    Signature,
    /// Its time has run out.
    #[error("the token has expired")]
    Expired,
    /// Its time has not begun.
    #[error("the token is not valid yet")]
    NotYetValid,
    /// Of another room.
    #[error("the token is for another room")]
    Audience,
    /// An id or refresh token.
    #[error("the token is not an access token")]
    Usage,
}

/// The header, read before the signature is verified, so used only to choose the key.
#[derive(Deserialize)]
struct Header {
    alg: String,
    kid: Option<String>,
}

/// Verifies only the signature, by this one algorithm; the checks of the claims follow.
static RS256_ONLY: LazyLock<Validation> = LazyLock::new(|| signature_only(Algorithm::RS256));
static ES256_ONLY: LazyLock<Validation> = LazyLock::new(|| signature_only(Algorithm::ES256));

fn signature_only(algorithm: Algorithm) -> Validation {
    let mut validation = Validation::new(algorithm);
    validation.required_spec_claims.clear();
    validation.validate_exp = false;
    validation.validate_nbf = false;
    validation.validate_aud = false;
    validation
}

/// The claims of `token`, if it opens `room` at `now` (unix seconds): an access token for this
/// room, signed by a key of `ring` with that key's algorithm, whatever else its header may say, and valid from `nbf`
/// until just before `exp`.
///
/// # Errors
/// [`VerifyError`]; the checks are made in the order form, algorithm, key, the key's algorithm, signature, room, use,
/// time.
pub fn verify(token: &str, ring: &KeyRing, room: &RoomId, now: u64) -> Result<Claims, VerifyError> {
    verify_for(token, ring, &[room.as_str()], now)
}

/// The same for a room that tokens may call by any of these names.
///
/// # Errors
/// As [`verify`].
pub fn verify_for(
    token: &str,
    ring: &KeyRing,
    names: &[&str],
    now: u64,
) -> Result<Claims, VerifyError> {
    let header = read_header(token).ok_or(VerifyError::Malformed)?;
    let said: KeyAlgorithm = header.alg.parse().map_err(|_| VerifyError::Algorithm)?;
    let key = header.kid.and_then(|kid| ring.verifying_key(&kid, now));
    let (key, algorithm) = key.ok_or(VerifyError::UnknownKey)?;
    if said != algorithm {
        return Err(VerifyError::Algorithm);
    }
    let claims = check_signature(token, key, algorithm)?;
    check_claims(&claims, names, now)?;
    Ok(claims)
}

fn read_header(token: &str) -> Option<Header> {
    let (header, _) = token.split_once('.')?;
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(header).ok()?).ok()
}

fn check_signature(
    token: &str,
    key: &DecodingKey,
    algorithm: KeyAlgorithm,
) -> Result<Claims, VerifyError> {
    let only = match algorithm {
        KeyAlgorithm::Rs256 => &RS256_ONLY,
        KeyAlgorithm::Es256 => &ES256_ONLY,
    };
    match jsonwebtoken::decode(token, key, only) {
        Ok(token) => Ok(token.claims),
        Err(error) => Err(match error.kind() {
            ErrorKind::InvalidSignature => VerifyError::Signature,
            ErrorKind::InvalidAlgorithm => VerifyError::Algorithm,
            _ => VerifyError::Malformed,
        }),
    }
}

fn check_claims(claims: &Claims, names: &[&str], now: u64) -> Result<(), VerifyError> {
    if !names.contains(&claims.aud.as_str()) {
        return Err(VerifyError::Audience);
    }
    if claims.token_use != TokenUse::Access {
        return Err(VerifyError::Usage);
    }
    if now < claims.nbf {
        return Err(VerifyError::NotYetValid);
    }
    if now >= claims.exp {
        return Err(VerifyError::Expired);
    }
    Ok(())
}

#[cfg(test)]
mod tests;
