//! The public form of keys: the single JWK of the AWS-style call, and the JWKS that gateways fetch.
//! Private keys never take this form.

use serde::{Deserialize, Serialize};

/// An RSA public key. Written in the order of its fields.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Jwk {
    /// Always `RSA`.
    pub kty: KeyType,
    /// Always `RS256`.
    pub alg: KeyAlgorithm,
    /// The key's name in a token's header: 32 lower-case hexadecimal characters, or that of an imported key.
    pub kid: String,
    /// The modulus, base64url.
    pub n: String,
    /// The public exponent, base64url.
    pub e: String,
}

/// The kind of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum KeyType {
    /// `RSA`.
    #[serde(rename = "RSA")]
    Rsa,
}

/// The algorithm a key signs with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum KeyAlgorithm {
    /// `RS256`: PKCS #1 v1.5 with SHA-256.
    #[serde(rename = "RS256")]
    Rs256,
}

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
        Jwk {
            kty: KeyType::Rsa,
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
    fn keys_of_a_set_say_what_they_are_for() {
        let set = Jwks { keys: vec![jwk().into()] };
        assert_eq!(
            serde_json::to_string(&set).unwrap(),
            r#"{"keys":[{"kty":"RSA","alg":"RS256","kid":"k1","n":"AQ","e":"AQAB","use":"sig"}]}"#
        );
    }
}
