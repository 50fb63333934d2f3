//! A private key as other products keep it: an RSA JWK (RFC 7518). It is only read, to be sealed at once; no private key
//! is ever written in this form.

use std::fmt;

use aws_lc_rs::{
    rsa::{KeyPairComponents, PublicKeyComponents},
    signature::RsaKeyPair,
};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use zeroize::Zeroizing;

use crate::{KeyType, SigningKey, SigningKeyError};

/// The longest name of a key.
const LONGEST_KID: usize = 64;

/// A private RSA key with its name. Members that are not listed here are left alone.
#[derive(Clone, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PrivateJwk {
    /// Always `RSA`.
    kty: KeyType,
    /// Its name, which it keeps: 1 to 64 letters, digits, `.`, `_` or `-`.
    kid: String,
    /// The modulus, base64url: 2048 bits.
    n: String,
    /// The public exponent, base64url: 65537.
    e: String,
    /// The private exponent, base64url.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    d: SecretString,
    /// The first factor.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    p: SecretString,
    /// The second factor.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    q: SecretString,
    /// `d` modulo `p - 1`.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    dp: SecretString,
    /// `d` modulo `q - 1`.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    dq: SecretString,
    /// The inverse of `q` modulo `p`.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    qi: SecretString,
}

// === impl PrivateJwk ===

impl PrivateJwk {
    /// Its name.
    #[must_use]
    pub fn kid(&self) -> &str {
        &self.kid
    }

    /// The key, ready to sign. Takes some milliseconds.
    ///
    /// # Errors
    /// [`SigningKeyError::Name`], [`SigningKeyError::Unsupported`].
    pub fn open(&self) -> Result<SigningKey, SigningKeyError> {
        let is_plain =
            |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
        if !(1..=LONGEST_KID).contains(&self.kid.len()) || !self.kid.bytes().all(is_plain) {
            return Err(SigningKeyError::Name);
        }
        let KeyType::Rsa = self.kty;
        let pair = self.pair().ok_or(SigningKeyError::Unsupported)?;
        SigningKey::with_pair(self.kid.clone(), pair)
    }

    /// The library checks whether the parts belong together.
    fn pair(&self) -> Option<RsaKeyPair> {
        let [d, p, q] = [&self.d, &self.p, &self.q].map(|part| number(part.expose_secret()));
        let [dp, dq, qi] = [&self.dp, &self.dq, &self.qi].map(|part| number(part.expose_secret()));
        let public_key = PublicKeyComponents { n: number(&self.n)?, e: number(&self.e)? };
        let components =
            KeyPairComponents { public_key, d: d?, p: p?, q: q?, dP: dp?, dQ: dq?, qInv: qi? };
        RsaKeyPair::from_components(&components).ok()
    }
}

/// Without the private parts.
impl fmt::Debug for PrivateJwk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PrivateJwk").field("kid", &self.kid).finish_non_exhaustive()
    }
}

fn number(base64url: &str) -> Option<Zeroizing<Vec<u8>>> {
    URL_SAFE_NO_PAD.decode(base64url).ok().map(Zeroizing::new)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        KeyRecord, KeyRing,
        test_support::{claims, room, secret},
        verify,
    };

    fn jwk() -> Value {
        serde_json::from_str(include_str!("../fixtures/private-jwk.json")).unwrap()
    }

    fn open(jwk: Value) -> Result<SigningKey, SigningKeyError> {
        serde_json::from_value::<PrivateJwk>(jwk).unwrap().open()
    }

    fn with(field: &str, value: &str) -> Value {
        let mut changed = jwk();
        changed[field] = json!(value);
        changed
    }

    #[test]
    fn an_imported_key_keeps_its_name_and_signs() {
        let key = open(jwk()).unwrap();
        assert_eq!(
            (key.kid(), key.public_jwk().n.as_str()),
            ("0f1e2d3c4b5a49788796a5b4c3d2e1f0", jwk()["n"].as_str().unwrap())
        );
        let record = KeyRecord::seal(&secret(), &key, 1).unwrap();
        let ring = KeyRing::open(&secret(), &[record]).unwrap();
        let token = key.sign(&claims()).unwrap();
        assert_eq!(verify(&token, &ring, &room("sale"), claims().iat), Ok(claims()));
    }

    #[test]
    fn parts_that_do_not_belong_together_are_refused() {
        let other = jwk()["q"].as_str().unwrap().to_owned();
        for field in ["n", "d", "p", "dp", "dq", "qi"] {
            for wrong in [other.as_str(), "", "AQAB", "no base64!"] {
                let opened = open(with(field, wrong)).map(|key| key.kid().to_owned());
                assert_eq!(opened, Err(SigningKeyError::Unsupported), "{field}: {wrong}");
            }
        }
        assert_eq!(open(with("e", "Aw")).unwrap_err(), SigningKeyError::Unsupported);
    }

    #[test]
    fn names_that_would_have_to_be_escaped_are_refused() {
        for kid in ["", "a\"b", "a b", &"k".repeat(65)] {
            assert_eq!(open(with("kid", kid)).unwrap_err(), SigningKeyError::Name, "{kid}");
        }
    }

    #[test]
    fn debug_shows_no_private_part() {
        let read: PrivateJwk = serde_json::from_value(jwk()).unwrap();
        let printed = format!("{read:?}");
        assert!(!printed.contains(jwk()["d"].as_str().unwrap()), "{printed}");
    }
}
