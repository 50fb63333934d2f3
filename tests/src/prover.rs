//! An app that has a key, and proves it with every request (`DPoP`, RFC 9449).

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use anyhow::{Result, ensure};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode, jwk::Jwk};
use rcgen::{KeyPair, PKCS_ECDSA_P256_SHA256, PublicKeyData};
use serde_json::json;

/// A key, with which proofs are made. A clone has the same key.
#[derive(Clone)]
pub struct Prover {
    key: EncodingKey,
    public: Jwk,
    /// How many proofs there are, for their names.
    made: Arc<AtomicU64>,
}

// === impl Prover ===

impl Prover {
    /// A new key of P-256.
    pub fn generate() -> Result<Self> {
        let pair = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?;
        let point = pair.der_bytes();
        ensure!(point.len() == 65, "a point of P-256");
        let [x, y] = [&point[1..33], &point[33..]].map(|part| URL_SAFE_NO_PAD.encode(part));
        let public = json!({ "kty": "EC", "crv": "P-256", "x": x, "y": y });
        Ok(Self {
            key: EncodingKey::from_ec_der(&pair.serialize_der()),
            public: serde_json::from_value(public)?,
            made: Arc::default(),
        })
    }

    /// Its thumbprint, as in `cnf`.
    pub fn thumbprint(&self) -> Result<String> {
        Ok(self.public.thumbprint(jsonwebtoken::jwk::ThumbprintHash::SHA256)?)
    }

    /// A proof for a request that is made at `now`, unix seconds.
    pub fn proof(&self, method: &str, url: &str, now: u64) -> Result<String> {
        let header = Header {
            typ: Some("dpop+jwt".to_owned()),
            jwk: Some(self.public.clone()),
            ..Header::new(Algorithm::ES256)
        };
        let jti = format!("proof-{}", self.made.fetch_add(1, Relaxed));
        let claims = json!({ "htm": method, "htu": url, "iat": now, "jti": jti });
        Ok(encode(&header, &claims, &self.key)?)
    }
}

impl std::fmt::Debug for Prover {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Prover").field("public", &self.public).finish_non_exhaustive()
    }
}
