//! The id token (OpenID Connect Core 1.0, section 2): that somebody has waited and is inside, told to one client. It
//! never says who somebody is.

use aws_lc_rs::digest::{SHA256, digest};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};

use crate::TokenUse;

/// The claims of an id token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdClaims {
    /// The access token that it was given with, by its hash.
    pub at_hash: String,
    /// The client.
    pub aud: String,
    /// When the visitor was seen to be inside, unix seconds.
    pub auth_time: u64,
    /// When it expires, unix seconds: with the access token.
    pub exp: u64,
    /// When it was issued, unix seconds.
    pub iat: u64,
    /// The provider.
    pub iss: String,
    /// What the client asked to be told again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nonce: Option<String>,
    /// The visitor's request id.
    pub sub: String,
    /// Always `id`: whoever reads this claim takes it for no access token, though the same keys sign both.
    pub token_use: TokenUse,
}

// === impl IdClaims ===

impl IdClaims {
    /// The claim `at_hash` of an access token: the left half of its hash. Both algorithms that sign here hash with SHA-256.
    #[must_use]
    pub fn hash_of(access_token: &str) -> String {
        let hash = digest(&SHA256, access_token.as_bytes());
        URL_SAFE_NO_PAD.encode(&hash.as_ref()[..SHA256.output_len() / 2])
    }
}

#[cfg(test)]
mod tests {
    use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode};

    use super::*;
    use crate::{
        Jwk, SigningKey,
        test_support::{curve_key, key},
    };

    fn claims() -> IdClaims {
        IdClaims {
            at_hash: IdClaims::hash_of("jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y"),
            aud: "shop".into(),
            auth_time: 1_763_690_000,
            exp: 4_000_000_000,
            iat: 1_763_690_001,
            iss: "https://wait.example/oidc/sale".into(),
            nonce: Some("n-0S6_WzA2Mj".into()),
            sub: "6f1c2a34-0b5d-4e7f-8a90-b1c2d3e4f506".into(),
            token_use: TokenUse::Id,
        }
    }

    /// The example of OpenID Connect Core 1.0, appendix A.3.
    #[test]
    fn the_hash_is_that_of_the_standard() {
        assert_eq!(claims().at_hash, "77QmUPtjPfzWtF2AnpK9RQ");
    }

    #[test]
    fn anybody_verifies_it_by_the_public_key() {
        let verified = |key: &SigningKey, algorithm, public: DecodingKey| {
            let token = key.sign_id(&claims()).unwrap();
            let mut validation = Validation::new(algorithm);
            validation.set_audience(&["shop"]);
            decode::<IdClaims>(&token, &public, &validation).unwrap().claims
        };
        let Jwk::Rsa { n, e, .. } = key().public_jwk() else { unreachable!() };
        let public = DecodingKey::from_rsa_components(n, e).unwrap();
        assert_eq!(verified(key(), Algorithm::RS256, public), claims());
        let Jwk::Ec { x, y, .. } = curve_key().public_jwk() else { unreachable!() };
        let public = DecodingKey::from_ec_components(x, y).unwrap();
        assert_eq!(verified(curve_key(), Algorithm::ES256, public), claims());
    }
}
