//! An RSA key that signs access tokens. The private key is parsed once; the JWT library would parse
//! it for every token, which costs more than signing. Which key signs, and how long an old one is
//! valid, is decided in the key ring.

use std::fmt;

use aws_lc_rs::{
    encoding::{AsDer, Pkcs8V1Der},
    rand::{self, SystemRandom},
    rsa::KeySize,
    signature::{KeyPair, RSA_PKCS1_SHA256, RsaKeyPair},
};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use thiserror::Error;

use crate::{
    Claims, Jwk, KeyAlgorithm, KeyType,
    access_token::{encoded_header, signing_input, with_signature},
};

const SIGNATURE_LEN: usize = 256;

/// The DER of an RSA public key with a 2048-bit modulus and the exponent 65537 consists of these
/// two parts around the modulus: `SEQUENCE { INTEGER n, INTEGER 65537 }`.
const PUBLIC_DER_HEAD: &[u8] = &[0x30, 0x82, 0x01, 0x0a, 0x02, 0x82, 0x01, 0x01, 0x00];
const PUBLIC_DER_TAIL: &[u8] = &[0x02, 0x03, 0x01, 0x00, 0x01];
const EXPONENT: &str = "AQAB";

/// An RSA-2048 key, ready to sign.
pub struct SigningKey {
    pair: RsaKeyPair,
    public: Jwk,
    encoded_header: String,
}

/// Why no key, or no signature, could be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum SigningKeyError {
    /// No key could be generated.
    #[error("no RSA key could be generated")]
    Generation,
    /// The private key is not one that this crate makes: RSA-2048 with the exponent 65537.
    #[error("the private key is not RSA-2048 with the exponent 65537")]
    Unsupported,
    /// The key's name would have to be escaped.
    #[error("the key's name, `kid`, must have 1 to 64 letters, digits, `.`, `_` or `-`")]
    Name,
    /// The claims could not be signed.
    #[error("the access token could not be signed")]
    Signing,
}

// === impl SigningKey ===

impl SigningKey {
    /// A new key with a new random name. Takes a considerable part of a second of one core.
    ///
    /// # Errors
    /// [`SigningKeyError::Generation`] when the cryptographic library gives no key.
    pub fn generate() -> Result<Self, SigningKeyError> {
        let mut kid = [0; 16];
        rand::fill(&mut kid).map_err(|_| SigningKeyError::Generation)?;
        let pair =
            RsaKeyPair::generate(KeySize::Rsa2048).map_err(|_| SigningKeyError::Generation)?;
        Self::with_pair(format!("{:032x}", u128::from_be_bytes(kid)), pair)
    }

    /// The key's name: 32 lower-case hexadecimal characters, or that of an imported key.
    #[must_use]
    pub fn kid(&self) -> &str {
        &self.public.kid
    }

    /// The public key.
    #[must_use]
    pub fn public_jwk(&self) -> &Jwk {
        &self.public
    }

    /// The token of `claims`; it is the same every time. Takes about 0.3 ms of one core, so it must
    /// not run on an async thread.
    ///
    /// # Errors
    /// [`SigningKeyError::Signing`] when the cryptographic library gives no signature.
    pub fn sign(&self, claims: &Claims) -> Result<String, SigningKeyError> {
        let input =
            signing_input(&self.encoded_header, claims).map_err(|_| SigningKeyError::Signing)?;
        self.sign_text(input)
    }

    /// The text, a dot, its signature.
    pub(crate) fn sign_text(&self, input: String) -> Result<String, SigningKeyError> {
        let mut signature = [0; SIGNATURE_LEN];
        self.pair
            .sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), input.as_bytes(), &mut signature)
            .map_err(|_| SigningKeyError::Signing)?;
        Ok(with_signature(input, &signature))
    }

    pub(crate) fn from_pkcs8(kid: String, pkcs8: &[u8]) -> Result<Self, SigningKeyError> {
        let pair = RsaKeyPair::from_pkcs8(pkcs8).map_err(|_| SigningKeyError::Unsupported)?;
        Self::with_pair(kid, pair)
    }

    /// The unencrypted private key; wiped when dropped.
    pub(crate) fn to_pkcs8(&self) -> Result<Pkcs8V1Der<'static>, SigningKeyError> {
        self.pair.as_der().map_err(|_| SigningKeyError::Unsupported)
    }

    pub(crate) fn with_pair(kid: String, pair: RsaKeyPair) -> Result<Self, SigningKeyError> {
        let modulus = modulus(&pair).ok_or(SigningKeyError::Unsupported)?;
        let encoded_header = encoded_header(&kid);
        let public = Jwk {
            kty: KeyType::Rsa,
            alg: KeyAlgorithm::Rs256,
            kid,
            n: URL_SAFE_NO_PAD.encode(modulus),
            e: EXPONENT.to_owned(),
        };
        Ok(Self { pair, public, encoded_header })
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningKey").field("kid", &self.public.kid).finish_non_exhaustive()
    }
}

fn modulus(pair: &RsaKeyPair) -> Option<&[u8; SIGNATURE_LEN]> {
    let der = pair.public_key().as_ref();
    der.strip_prefix(PUBLIC_DER_HEAD)?.strip_suffix(PUBLIC_DER_TAIL)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};

    use super::*;
    use crate::test_support::{claims, key};

    #[test]
    fn an_independent_library_accepts_our_tokens_by_the_jwk() {
        let token = key().sign(&claims()).unwrap();
        let jwk: jsonwebtoken::jwk::Jwk =
            serde_json::from_str(&serde_json::to_string(key().public_jwk()).unwrap()).unwrap();
        let mut validation = Validation::new(Algorithm::RS256);
        validation.validate_exp = false;
        validation.set_audience(&["sale"]);
        let read =
            decode::<Claims>(&token, &DecodingKey::from_jwk(&jwk).unwrap(), &validation).unwrap();
        assert_eq!(read.claims, claims());
        assert_eq!(read.header.kid.as_deref(), Some(key().kid()));
    }

    #[test]
    fn the_same_claims_give_the_same_token() {
        let token = key().sign(&claims()).unwrap();
        assert_eq!(key().sign(&claims()).unwrap(), token);
        let again =
            SigningKey::from_pkcs8(key().kid().to_owned(), key().to_pkcs8().unwrap().as_ref());
        assert_eq!(again.unwrap().sign(&claims()).unwrap(), token);
    }

    #[test]
    fn kids_are_32_hexadecimal_characters_and_differ() {
        let other = SigningKey::generate().unwrap();
        for kid in [key().kid(), other.kid()] {
            assert_eq!(kid.len(), 32);
            assert!(kid.bytes().all(|c| c.is_ascii_digit() || (b'a'..=b'f').contains(&c)));
        }
        assert_ne!(key().kid(), other.kid());
        let token = key().sign(&claims()).unwrap();
        assert_eq!(decode_header(&token).unwrap().kid.as_deref(), Some(key().kid()));
    }

    #[test]
    fn other_rsa_keys_are_not_taken() {
        let pair = RsaKeyPair::generate(KeySize::Rsa3072).unwrap();
        let pkcs8 = pair.as_der().unwrap();
        let error = SigningKey::from_pkcs8("k".to_owned(), pkcs8.as_ref()).unwrap_err();
        assert_eq!(error, SigningKeyError::Unsupported);
        assert!(SigningKey::from_pkcs8("k".to_owned(), b"nonsense").is_err());
    }

    #[test]
    fn debug_shows_the_name_alone() {
        assert_eq!(format!("{:?}", key()), format!("SigningKey {{ kid: {:?}, .. }}", key().kid()));
    }
}
