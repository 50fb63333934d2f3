//! A key that signs access tokens, RSA or on a curve. The private key is parsed once; the JWT library would parse
//! it for every token, which costs more than signing. Which key signs, and how long an old one is
//! valid, is decided in the key ring.

use std::fmt;

use aws_lc_rs::{
    encoding::{AsDer, Pkcs8V1Der},
    rand::{self, SystemRandom},
    rsa::KeySize,
    signature::{
        ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair, RSA_PKCS1_SHA256, RsaKeyPair,
    },
};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::Serialize;
use thiserror::Error;
use zeroize::Zeroizing;

use crate::{
    Claims, Curve, IdClaims, Jwk, KeyAlgorithm,
    access_token::{encoded_header, signing_input, with_signature},
};

const SIGNATURE_LEN: usize = 256;

/// The DER of an RSA public key with a 2048-bit modulus and the exponent 65537 consists of these
/// two parts around the modulus: `SEQUENCE { INTEGER n, INTEGER 65537 }`.
const PUBLIC_DER_HEAD: &[u8] = &[0x30, 0x82, 0x01, 0x0a, 0x02, 0x82, 0x01, 0x01, 0x00];
const PUBLIC_DER_TAIL: &[u8] = &[0x02, 0x03, 0x01, 0x00, 0x01];
const EXPONENT: &str = "AQAB";

/// The bytes of one coordinate of a point on P-256. A public key is both of them after this byte.
const COORDINATE_LEN: usize = 32;
pub(crate) const UNCOMPRESSED: &[u8] = &[4];

/// A key, ready to sign: RSA-2048, or on the curve P-256.
pub struct SigningKey {
    pair: Pair,
    public: Jwk,
    encoded_header: String,
}

/// A private key and its public one.
pub(crate) enum Pair {
    Rsa(RsaKeyPair),
    Ec(EcdsaKeyPair),
}

/// Why no key, or no signature, could be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum SigningKeyError {
    /// No key could be generated.
    #[error("no signing key could be generated")]
    Generation,
    /// The private key is not one that this crate makes: RSA-2048 with the exponent 65537, or on P-256.
    #[error(
        "the private key is neither RSA-2048 with the exponent 65537 nor EC on the curve P-256, \
         or its parts do not belong together"
    )]
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
    /// A new key for this algorithm, with a new random name. An RSA key takes a considerable part of a second of one core.
    ///
    /// # Errors
    /// [`SigningKeyError::Generation`] when the cryptographic library gives no key.
    pub fn generate(algorithm: KeyAlgorithm) -> Result<Self, SigningKeyError> {
        let mut kid = [0; 16];
        rand::fill(&mut kid).map_err(|_| SigningKeyError::Generation)?;
        let pair = match algorithm {
            KeyAlgorithm::Rs256 => RsaKeyPair::generate(KeySize::Rsa2048).map(Pair::Rsa),
            KeyAlgorithm::Es256 => {
                EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).map(Pair::Ec)
            }
        };
        let pair = pair.map_err(|_| SigningKeyError::Generation)?;
        Self::with_pair(format!("{:032x}", u128::from_be_bytes(kid)), pair)
    }

    /// The key's name: 32 lower-case hexadecimal characters, or that of an imported key.
    #[must_use]
    pub fn kid(&self) -> &str {
        self.public.kid()
    }

    /// The public key.
    #[must_use]
    pub fn public_jwk(&self) -> &Jwk {
        &self.public
    }

    /// The token of `claims`. By an RSA key it is the same every time; ECDSA signs the same claims otherwise each time.
    /// Takes about 0.3 ms of one core by an RSA key, so it must not run on an async thread.
    ///
    /// # Errors
    /// [`SigningKeyError::Signing`] when the cryptographic library gives no signature.
    pub fn sign(&self, claims: &Claims) -> Result<String, SigningKeyError> {
        self.sign_claims(claims)
    }

    /// The id token of `claims`, as [`Self::sign`] signs.
    ///
    /// # Errors
    /// [`SigningKeyError::Signing`] when the cryptographic library gives no signature.
    pub fn sign_id(&self, claims: &IdClaims) -> Result<String, SigningKeyError> {
        self.sign_claims(claims)
    }

    fn sign_claims(&self, claims: &impl Serialize) -> Result<String, SigningKeyError> {
        let input =
            signing_input(&self.encoded_header, claims).map_err(|_| SigningKeyError::Signing)?;
        self.sign_text(input)
    }

    /// The text, a dot, its signature.
    pub(crate) fn sign_text(&self, input: String) -> Result<String, SigningKeyError> {
        let random = SystemRandom::new();
        match &self.pair {
            Pair::Rsa(pair) => {
                let mut signature = [0; SIGNATURE_LEN];
                pair.sign(&RSA_PKCS1_SHA256, &random, input.as_bytes(), &mut signature)
                    .map_err(|_| SigningKeyError::Signing)?;
                Ok(with_signature(input, &signature))
            }
            Pair::Ec(pair) => {
                let signature =
                    pair.sign(&random, input.as_bytes()).map_err(|_| SigningKeyError::Signing)?;
                Ok(with_signature(input, signature.as_ref()))
            }
        }
    }

    pub(crate) fn from_pkcs8(
        kid: String,
        algorithm: KeyAlgorithm,
        pkcs8: &[u8],
    ) -> Result<Self, SigningKeyError> {
        let pair = match algorithm {
            KeyAlgorithm::Rs256 => RsaKeyPair::from_pkcs8(pkcs8).map(Pair::Rsa),
            KeyAlgorithm::Es256 => {
                EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8).map(Pair::Ec)
            }
        };
        Self::with_pair(kid, pair.map_err(|_| SigningKeyError::Unsupported)?)
    }

    /// The unencrypted private key; wiped when dropped.
    pub(crate) fn to_pkcs8(&self) -> Result<Zeroizing<Vec<u8>>, SigningKeyError> {
        let copied = |der: &[u8]| Zeroizing::new(der.to_vec());
        let der = match &self.pair {
            Pair::Rsa(pair) => pair.as_der().map(|der: Pkcs8V1Der<'_>| copied(der.as_ref())),
            Pair::Ec(pair) => pair.to_pkcs8v1().map(|der| copied(der.as_ref())),
        };
        der.map_err(|_| SigningKeyError::Unsupported)
    }

    pub(crate) fn with_pair(kid: String, pair: Pair) -> Result<Self, SigningKeyError> {
        let public = public(kid, &pair).ok_or(SigningKeyError::Unsupported)?;
        let encoded_header = encoded_header(public.algorithm(), public.kid());
        Ok(Self { pair, public, encoded_header })
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningKey").field("kid", &self.kid()).finish_non_exhaustive()
    }
}

fn public(kid: String, pair: &Pair) -> Option<Jwk> {
    Some(match pair {
        Pair::Rsa(pair) => Jwk::Rsa {
            alg: KeyAlgorithm::Rs256,
            kid,
            n: URL_SAFE_NO_PAD.encode(modulus(pair)?),
            e: EXPONENT.to_owned(),
        },
        Pair::Ec(pair) => {
            let point = pair.public_key().as_ref().strip_prefix(UNCOMPRESSED)?;
            let (x, y) = point.split_at_checked(COORDINATE_LEN)?;
            let [x, y] = [x, y].map(|coordinate| URL_SAFE_NO_PAD.encode(coordinate));
            Jwk::Ec { alg: KeyAlgorithm::Es256, kid, crv: Curve::P256, x, y }
        }
    })
}

fn modulus(pair: &RsaKeyPair) -> Option<&[u8; SIGNATURE_LEN]> {
    let der = pair.public_key().as_ref();
    der.strip_prefix(PUBLIC_DER_HEAD)?.strip_suffix(PUBLIC_DER_TAIL)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use aws_lc_rs::signature::ECDSA_P384_SHA384_FIXED_SIGNING;
    use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};

    use super::*;
    use crate::test_support::{claims, curve_key, key};

    #[test]
    fn an_independent_library_accepts_our_tokens_by_the_jwk() {
        for (key, algorithm) in [(key(), Algorithm::RS256), (curve_key(), Algorithm::ES256)] {
            let token = key.sign(&claims()).unwrap();
            let jwk: jsonwebtoken::jwk::Jwk =
                serde_json::from_str(&serde_json::to_string(key.public_jwk()).unwrap()).unwrap();
            let mut validation = Validation::new(algorithm);
            validation.validate_exp = false;
            validation.set_audience(&["sale"]);
            let by = DecodingKey::from_jwk(&jwk).unwrap();
            let read = decode::<Claims>(&token, &by, &validation).unwrap();
            assert_eq!(read.claims, claims());
            assert_eq!(read.header.kid.as_deref(), Some(key.kid()));
        }
    }

    fn opened_again(key: &SigningKey, algorithm: KeyAlgorithm) -> SigningKey {
        let pkcs8 = key.to_pkcs8().unwrap();
        SigningKey::from_pkcs8(key.kid().to_owned(), algorithm, pkcs8.as_ref()).unwrap()
    }

    #[test]
    fn the_same_claims_give_the_same_token_by_an_rsa_key() {
        let token = key().sign(&claims()).unwrap();
        assert_eq!(key().sign(&claims()).unwrap(), token);
        assert_eq!(opened_again(key(), KeyAlgorithm::Rs256).sign(&claims()).unwrap(), token);
    }

    #[test]
    fn a_key_on_a_curve_is_the_same_when_it_is_opened_again() {
        let again = opened_again(curve_key(), KeyAlgorithm::Es256);
        assert_eq!(again.public_jwk(), curve_key().public_jwk());
        let [first, second] = [curve_key(), &again].map(|key| key.sign(&claims()).unwrap());
        let signed = |token: &str| token.rsplit_once('.').unwrap().0.to_owned();
        assert_eq!(signed(&first), signed(&second));
        assert!(first.len() < key().sign(&claims()).unwrap().len() - 200);
    }

    #[test]
    fn kids_are_32_hexadecimal_characters_and_differ() {
        let other = SigningKey::generate(KeyAlgorithm::Es256).unwrap();
        for kid in [key().kid(), other.kid()] {
            assert_eq!(kid.len(), 32);
            assert!(kid.bytes().all(|c| c.is_ascii_digit() || (b'a'..=b'f').contains(&c)));
        }
        assert_ne!(key().kid(), other.kid());
        let token = key().sign(&claims()).unwrap();
        assert_eq!(decode_header(&token).unwrap().kid.as_deref(), Some(key().kid()));
    }

    #[test]
    fn other_keys_are_not_taken() {
        let opened = |algorithm, pkcs8: &[u8]| {
            SigningKey::from_pkcs8("k".to_owned(), algorithm, pkcs8).map(|key| key.kid().to_owned())
        };
        let long = RsaKeyPair::generate(KeySize::Rsa3072).unwrap();
        let long: Pkcs8V1Der<'_> = long.as_der().unwrap();
        let other_curve = EcdsaKeyPair::generate(&ECDSA_P384_SHA384_FIXED_SIGNING).unwrap();
        let other_curve = other_curve.to_pkcs8v1().unwrap();
        let of_the_other_kind = curve_key().to_pkcs8().unwrap();
        let [long, other_curve] = [long.as_ref(), other_curve.as_ref()];
        for pkcs8 in [long, other_curve, &of_the_other_kind, b"nonsense"] {
            let refused = opened(KeyAlgorithm::Rs256, pkcs8);
            assert_eq!(refused, Err(SigningKeyError::Unsupported));
        }
        for pkcs8 in [long, other_curve, b"nonsense"] {
            let refused = opened(KeyAlgorithm::Es256, pkcs8);
            assert_eq!(refused, Err(SigningKeyError::Unsupported));
        }
    }

    #[test]
    fn debug_shows_the_name_alone() {
        assert_eq!(format!("{:?}", key()), format!("SigningKey {{ kid: {:?}, .. }}", key().kid()));
    }
}
