//! The public form of keys: the single JWK of the AWS-style call, and the JWKS that gateways fetch.
//! Private keys never take this form.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A public key. Written in the order of its fields, after `kty`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "kty")]
pub enum Jwk {
    /// An RSA key.
    #[serde(rename = "RSA")]
    Rsa {
        /// Always `RS256`.
        alg: KeyAlgorithm,
        /// The key's name in a token's header: 32 lower-case hexadecimal characters, or that of an imported key.
        kid: String,
        /// The modulus, base64url.
        n: String,
        /// The public exponent, base64url.
        e: String,
    },
    /// A key on a curve.
    #[serde(rename = "EC")]
    Ec {
        /// Always `ES256`.
        alg: KeyAlgorithm,
        /// The key's name in a token's header, as of an RSA key.
        kid: String,
        /// Always `P-256`.
        crv: Curve,
        /// The point's first coordinate, base64url.
        x: String,
        /// The point's second coordinate, base64url.
        y: String,
    },
}

/// The curve of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Curve {
    /// `P-256`.
    #[serde(rename = "P-256")]
    P256,
}

/// The algorithm a key signs with. Which one belongs to the key: nobody else has a say in it, least of all a token.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum KeyAlgorithm {
    /// `RS256`: RSA-2048, PKCS #1 v1.5 with SHA-256. Every gateway knows it.
    #[default]
    #[serde(rename = "RS256")]
    Rs256,
    /// `ES256`: ECDSA on P-256 with SHA-256. A small part of the work to sign, and a quarter of the length.
    #[serde(rename = "ES256")]
    Es256,
}

/// This is no algorithm that keys are made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("must be RS256 or ES256")]
pub struct UnknownAlgorithm;

/// What a key may be used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum KeyUse {
    /// `sig`: checking signatures.
    #[serde(rename = "sig")]
    Signature,
}

/// The public keys that can verify tokens now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Jwks {
    /// The keys; the signing one first.
    pub keys: Vec<PublishedJwk>,
}

/// A key of a [`Jwks`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PublishedJwk {
    /// The key itself.
    #[serde(flatten)]
    pub jwk: Jwk,
    /// Always `sig`: some gateways skip keys without it.
    #[serde(rename = "use")]
    pub key_use: KeyUse,
}

// === impl Jwk ===

impl Jwk {
    /// The key's name.
    #[must_use]
    pub fn kid(&self) -> &str {
        match self {
            Self::Rsa { kid, .. } | Self::Ec { kid, .. } => kid,
        }
    }

    /// What it verifies: by its kind, whatever else it says.
    #[must_use]
    pub fn algorithm(&self) -> KeyAlgorithm {
        match self {
            Self::Rsa { .. } => KeyAlgorithm::Rs256,
            Self::Ec { .. } => KeyAlgorithm::Es256,
        }
    }
}

// === impl KeyAlgorithm ===

impl KeyAlgorithm {
    /// Its name in headers of tokens.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Rs256 => "RS256",
            Self::Es256 => "ES256",
        }
    }
}

impl fmt::Display for KeyAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for KeyAlgorithm {
    type Err = UnknownAlgorithm;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let known = [Self::Rs256, Self::Es256];
        known.into_iter().find(|one| one.name() == name).ok_or(UnknownAlgorithm)
    }
}

// === impl PublishedJwk ===

impl From<Jwk> for PublishedJwk {
    fn from(jwk: Jwk) -> Self {
        Self { jwk, key_use: KeyUse::Signature }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"{"kty":"RSA","alg":"RS256","kid":"k1","n":"AQ","e":"AQAB"}"#;

    fn jwk() -> Jwk {
        Jwk::Rsa {
            alg: KeyAlgorithm::Rs256,
            kid: "k1".to_owned(),
            n: "AQ".to_owned(),
            e: "AQAB".to_owned(),
        }
    }

    #[test]
    fn a_jwk_is_written_in_the_order_of_the_aws_reference() {
        assert_eq!(serde_json::to_string(&jwk()).unwrap(), TEXT);
        assert_eq!(serde_json::from_str::<Jwk>(TEXT).unwrap(), jwk());
    }

    #[test]
    fn a_key_of_another_kind_is_not_read() {
        assert!(serde_json::from_str::<Jwk>(&TEXT.replace("RSA", "EC")).is_err());
        assert!(serde_json::from_str::<Jwk>(&TEXT.replace("RS256", "HS256")).is_err());
    }

    #[test]
    fn a_key_on_a_curve_is_written_as_others_read_it() {
        let [kid, x, y] = ["k2", "AQ", "Ag"].map(str::to_owned);
        let jwk = Jwk::Ec { alg: KeyAlgorithm::Es256, kid, crv: Curve::P256, x, y };
        let text = r#"{"kty":"EC","alg":"ES256","kid":"k2","crv":"P-256","x":"AQ","y":"Ag"}"#;
        assert_eq!(serde_json::to_string(&jwk).unwrap(), text);
        assert_eq!(serde_json::from_str::<Jwk>(text).unwrap(), jwk);
        assert!(serde_json::from_str::<Jwk>(&text.replace("P-256", "P-384")).is_err());
        let set = serde_json::to_string(&Jwks { keys: vec![jwk.into()] }).unwrap();
        assert_eq!(set, format!(r#"{{"keys":[{},"use":"sig"}}]}}"#, text.trim_end_matches('}')));
        assert!(serde_json::from_str::<Jwks>(&set).is_ok());
    }

    #[test]
    fn algorithms_are_known_by_their_names_alone() {
        for one in [KeyAlgorithm::Rs256, KeyAlgorithm::Es256] {
            assert_eq!(one.name().parse(), Ok(one));
        }
        for other in ["none", "HS256", "rs256", ""] {
            assert_eq!(other.parse::<KeyAlgorithm>(), Err(UnknownAlgorithm), "{other}");
        }
    }

    #[test]
    fn keys_of_a_set_say_what_they_are_for() {
        let set = Jwks { keys: vec![jwk().into()] };
        assert_eq!(
            serde_json::to_string(&set).unwrap(),
            r#"{"keys":[{"kty":"RSA","alg":"RS256","kid":"k1","n":"AQ","e":"AQAB","use":"sig"}]}"#
        );
    }
}
