//! Access tokens as a gateway checks them: with the JWKS, and a library that shares no code with
//! the signer.

use anyhow::{Context, Result};
use jsonwebtoken::{
    Algorithm, DecodingKey, Validation,
    dangerous::insecure_decode,
    decode, decode_header,
    jwk::{JwkSet, KeyAlgorithm},
};
use serde::Deserialize;

use crate::{Fleet, Reply};

/// What a token says.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claims {
    /// The room.
    pub aud: String,
    /// The key of its holder.
    pub cnf: Option<serde_json::Value>,
    /// Until when, unix seconds.
    pub exp: u64,
    /// Since when, unix seconds.
    pub iat: u64,
    /// Who signed.
    pub iss: String,
    /// As `iat`.
    pub nbf: u64,
    /// The visitor's queue number.
    pub queue_position: u64,
    /// The visitor's request id.
    pub sub: String,
    /// `access`, `id` or `refresh`.
    pub token_use: String,
}

/// A gateway's copy of the public keys.
#[derive(Debug, Clone)]
pub struct Verifier {
    keys: JwkSet,
}

// === impl Verifier ===

impl Verifier {
    /// Fetches the keys.
    pub async fn fetch(admissions: &Fleet) -> Result<Self> {
        let url = admissions.at("/.well-known/jwks.json")?;
        let reply = Reply::of(admissions.http().get(url)).await?.expect(200)?;
        Ok(Self { keys: serde_json::from_str(&reply.text).context("not a JWKS")? })
    }

    /// The ids of the keys, sorted.
    #[must_use]
    pub fn key_ids(&self) -> Vec<String> {
        let ids = self.keys.keys.iter().filter_map(|key| key.common.key_id.clone());
        let mut ids: Vec<_> = ids.collect();
        ids.sort();
        ids
    }

    /// The claims of a token for `room` that is valid now.
    pub fn verify(&self, token: &str, room: &str) -> Result<Claims> {
        let kid = decode_header(token)?.kid.context("the token names no key")?;
        let key = self.keys.find(&kid).with_context(|| format!("no key {kid}"))?;
        // What the key says, not what the token does.
        let algorithm = match key.common.key_algorithm.context("the key names no algorithm")? {
            KeyAlgorithm::ES256 => Algorithm::ES256,
            _ => Algorithm::RS256,
        };
        let mut validation = Validation::new(algorithm);
        validation.set_audience(&[room]);
        validation.set_required_spec_claims(&["exp", "nbf", "aud", "iss", "sub"]);
        validation.validate_nbf = true;
        Ok(decode::<Claims>(token, &DecodingKey::from_jwk(key)?, &validation)?.claims)
    }
}

/// What a token says, unchecked: for counting.
pub fn claims_of(token: &str) -> Result<Claims> {
    Ok(insecure_decode::<Claims>(token)?.claims)
}
