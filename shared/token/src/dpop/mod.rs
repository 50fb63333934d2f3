//! Proofs that a client has a key (`DPoP`, RFC 9449): a client signs the method and the address of each request, and what it
//! is given is bound to its key, so that a copy of it is worth nothing. This file checks one proof; whether it came before
//! is remembered elsewhere, and so is what is bound to which key.
//!
//! Time is a parameter, as everywhere in this crate.

mod target;

use aws_lc_rs::digest::{SHA256, digest};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use jsonwebtoken::{
    Algorithm, DecodingKey, Validation,
    jwk::{AlgorithmParameters, EllipticCurve, Jwk, ThumbprintHash},
};
use serde::Deserialize;
use thiserror::Error;

/// For how long a proof is good after it was made, and how far its clock may be ahead, in seconds.
pub const PROOF_SECONDS: u64 = 60;

/// The longest proof: one with a key of RSA with 4,096 bits is about half as long.
const LONGEST: usize = 4_096;

/// The longest modulus of RSA, of 4,096 bits, and the longest exponent, three bytes as of 65,537, in characters: what is
/// longer takes an attacker nothing to make up, and a processor up to ten times as long to look at.
const LONGEST_RSA: (usize, usize) = (683, 4);

/// The algorithms that are taken.
const ALGORITHMS: [Algorithm; 3] = [Algorithm::ES256, Algorithm::RS256, Algorithm::EdDSA];

/// Members that only private keys have.
const PRIVATE: [&str; 7] = ["d", "p", "q", "dp", "dq", "qi", "k"];

/// What names a key: the SHA-256 of it (RFC 7638).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Thumbprint([u8; 32]);

/// The request that a proof must be for.
#[derive(Debug, Clone, Copy)]
pub struct ProvenRequest<'a> {
    /// Its method.
    pub method: &'a str,
    /// Its address, of which query and fragment do not count.
    pub url: &'a str,
    /// The time, unix seconds.
    pub now: u64,
}

/// A proof that is good.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proof {
    /// Of which key.
    pub key: Thumbprint,
    /// A digest of its key and its name, which no other proof has.
    pub name: [u8; 16],
}

/// Why a proof was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ProofError {
    /// Not a JWT, or too long, or with other claims.
    #[error("it is not a proof")]
    Malformed,
    /// It asks for an extension that is not known.
    #[error("its crit names an extension that is not known")]
    Extension,
    /// Its `typ` is another.
    #[error("its typ is not dpop+jwt")]
    Type,
    /// Signed with another algorithm.
    #[error("its alg is not ES256, RS256 or EdDSA")]
    Algorithm,
    /// There is no key in it that goes with the algorithm.
    #[error(
        "its jwk is not a public key for its alg (of RSA: of 4,096 bits at most, with the exponent 65537)"
    )]
    Key,
    /// The signature does not match.
    #[error("its signature is wrong")]
    Signature,
    /// Made for another method.
    #[error("its htm is not the method of the request")]
    Method,
    /// Made for another address.
    #[error("its htu is not the address of the request")]
    Address,
    /// Too old, or of the future.
    #[error("its iat is not of the last minute")]
    Time,
}

/// The header, read before the signature is verified.
#[derive(Deserialize)]
struct Header {
    typ: String,
    alg: serde_json::Value,
    jwk: serde_json::Map<String, serde_json::Value>,
    /// Extensions that must be understood: there is none that is.
    #[serde(default)]
    crit: Option<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
struct Claims {
    htm: String,
    htu: String,
    /// Unix seconds; clients may give a part of one, too.
    iat: f64,
    jti: String,
}

// === impl Thumbprint ===

impl Thumbprint {
    /// Its bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    fn of(key: &Jwk) -> Option<Self> {
        let text = key.thumbprint(ThumbprintHash::SHA256).ok()?;
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        Some(Self(bytes.try_into().ok()?))
    }
}

/// As in `jkt`: 43 characters of base64url.
impl std::fmt::Display for Thumbprint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&URL_SAFE_NO_PAD.encode(self.0))
    }
}

/// The key that `proof` proves to whoever got `request`.
///
/// # Errors
/// [`ProofError`]; the checks are made in the order form, type, algorithm, key, signature, method, address, time.
pub fn verify_proof(proof: &str, request: ProvenRequest<'_>) -> Result<Proof, ProofError> {
    let header = read_header(proof).ok_or(ProofError::Malformed)?;
    if header.crit.is_some() {
        return Err(ProofError::Extension);
    }
    if !header.typ.eq_ignore_ascii_case("dpop+jwt") {
        return Err(ProofError::Type);
    }
    let algorithm = serde_json::from_value(header.alg).map_err(|_| ProofError::Algorithm)?;
    if !ALGORITHMS.contains(&algorithm) {
        return Err(ProofError::Algorithm);
    }
    let key = public_key(header.jwk, algorithm).ok_or(ProofError::Key)?;
    let claims = check_signature(proof, &key, algorithm)?;
    check_claims(&claims, request)?;
    let key = Thumbprint::of(&key).ok_or(ProofError::Key)?;
    Ok(Proof { key, name: name(&key, &claims.jti) })
}

fn name(key: &Thumbprint, jti: &str) -> [u8; 16] {
    let digest = digest(&SHA256, &[key.as_bytes(), jti.as_bytes()].concat());
    let mut name = [0; 16];
    name.copy_from_slice(&digest.as_ref()[..16]);
    name
}

fn read_header(proof: &str) -> Option<Header> {
    if proof.len() > LONGEST {
        return None;
    }
    let (header, _) = proof.split_once('.')?;
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(header).ok()?).ok()
}

/// The key `members`, if it is a public one for `algorithm`.
fn public_key(
    members: serde_json::Map<String, serde_json::Value>,
    algorithm: Algorithm,
) -> Option<Jwk> {
    if PRIVATE.iter().any(|name| members.contains_key(*name)) {
        return None;
    }
    let key: Jwk = serde_json::from_value(members.into()).ok()?;
    let is_for = match (&key.algorithm, algorithm) {
        (AlgorithmParameters::EllipticCurve(key), Algorithm::ES256) => {
            key.curve == EllipticCurve::P256
        }
        (AlgorithmParameters::OctetKeyPair(key), Algorithm::EdDSA) => {
            key.curve == EllipticCurve::Ed25519
        }
        (AlgorithmParameters::RSA(key), Algorithm::RS256) => {
            key.n.len() <= LONGEST_RSA.0 && key.e.len() <= LONGEST_RSA.1
        }
        _ => false,
    };
    is_for.then_some(key)
}

fn check_signature(proof: &str, key: &Jwk, algorithm: Algorithm) -> Result<Claims, ProofError> {
    let key = DecodingKey::from_jwk(key).map_err(|_| ProofError::Key)?;
    let mut validation = Validation::new(algorithm);
    validation.required_spec_claims.clear();
    (validation.validate_exp, validation.validate_nbf, validation.validate_aud) =
        (false, false, false);
    let decoded = jsonwebtoken::decode::<Claims>(proof, &key, &validation);
    Ok(decoded
        .map_err(|error| match error.kind() {
            jsonwebtoken::errors::ErrorKind::Json(_) => ProofError::Malformed,
            _ => ProofError::Signature,
        })?
        .claims)
}

fn check_claims(claims: &Claims, request: ProvenRequest<'_>) -> Result<(), ProofError> {
    if claims.jti.is_empty() {
        return Err(ProofError::Malformed);
    }
    if claims.htm != request.method {
        return Err(ProofError::Method);
    }
    if !target::is_same(&claims.htu, request.url) {
        return Err(ProofError::Address);
    }
    #[expect(clippy::cast_precision_loss, reason = "times of this age are exact")]
    let age = (request.now as f64 - claims.iat.floor()).abs();
    #[expect(clippy::cast_precision_loss, reason = "a minute")]
    if age > PROOF_SECONDS as f64 {
        return Err(ProofError::Time);
    }
    Ok(())
}

#[cfg(test)]
mod tests;
