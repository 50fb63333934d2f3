//! A private key as other products keep it: a JWK (RFC 7518). It is only read, to be sealed at once; no private key
//! is ever written in this form.

use std::fmt;

use aws_lc_rs::{
    rsa::{KeyPairComponents, PublicKeyComponents},
    signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, RsaKeyPair},
};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, de::IgnoredAny};
use thiserror::Error;
use zeroize::Zeroizing;

use crate::{
    Curve, KeyAlgorithm, SigningKey, SigningKeyError,
    signing_key::{Pair, UNCOMPRESSED},
};

/// What is to be done about a key that is said to be for something else.
const MEND: &str =
    "take a key that is for signing tokens, or leave this member out if this one is for that, too";

/// The longest name of a key.
const LONGEST_KID: usize = 64;

/// A private key with its name: RSA, or on the curve P-256. Members that are not listed here are left alone, and those that
/// say what the key is for must not say that it is for something else.
#[derive(Clone, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "kty")]
pub enum PrivateJwk {
    /// An RSA key, which signs with RS256.
    #[serde(rename = "RSA")]
    Rsa(RsaPrivateJwk),
    /// A key on a curve, which signs with ES256.
    #[serde(rename = "EC")]
    Ec(EcPrivateJwk),
}

/// A private RSA key.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RsaPrivateJwk {
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
    /// Further factors: there must be none.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Vec<Object>>))]
    oth: Option<IgnoredAny>,
    /// `RS256`, if it is there.
    #[serde(default)]
    alg: Option<String>,
    /// `sig`, if it is there.
    #[serde(default)]
    r#use: Option<String>,
    /// With `sign` among them, if it is there.
    #[serde(default)]
    key_ops: Option<Vec<String>>,
}

/// A private key on a curve.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct EcPrivateJwk {
    /// Its name, which it keeps: 1 to 64 letters, digits, `.`, `_` or `-`.
    kid: String,
    /// Always `P-256`.
    crv: Curve,
    /// The point's first coordinate, base64url: 32 bytes.
    x: String,
    /// The point's second coordinate, base64url: 32 bytes.
    y: String,
    /// The private number, base64url: 32 bytes.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    d: SecretString,
    /// `ES256`, if it is there.
    #[serde(default)]
    alg: Option<String>,
    /// `sig`, if it is there.
    #[serde(default)]
    r#use: Option<String>,
    /// With `sign` among them, if it is there.
    #[serde(default)]
    key_ops: Option<Vec<String>>,
}

/// A member of a key that says that it is for something else.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{reason}")]
pub struct WrongPurpose {
    /// Its name.
    pub member: &'static str,
    /// What it says, and what it would have to say.
    pub reason: String,
}

// === impl PrivateJwk ===

impl PrivateJwk {
    /// Its name.
    #[must_use]
    pub fn kid(&self) -> &str {
        match self {
            Self::Rsa(key) => &key.kid,
            Self::Ec(key) => &key.kid,
        }
    }

    /// What it signs with.
    #[must_use]
    pub fn algorithm(&self) -> KeyAlgorithm {
        match self {
            Self::Rsa(_) => KeyAlgorithm::Rs256,
            Self::Ec(_) => KeyAlgorithm::Es256,
        }
    }

    /// Checks that the key is for signing tokens, by what it says of itself. Who keeps a key for two things loses both at once.
    ///
    /// # Errors
    /// The first member that says something else.
    pub fn check_purpose(&self) -> Result<(), WrongPurpose> {
        let (alg, r#use, key_ops) = match self {
            Self::Rsa(key) => (&key.alg, &key.r#use, &key.key_ops),
            Self::Ec(key) => (&key.alg, &key.r#use, &key.key_ops),
        };
        let wrong = |member, reason| Err(WrongPurpose { member, reason });
        let signs_with = self.algorithm().to_string();
        if let Some(alg) = alg.as_ref().filter(|alg| **alg != signs_with) {
            return wrong(
                "alg",
                format!("is `{alg}`, and such a key signs tokens with {signs_with}: {MEND}"),
            );
        }
        if let Some(other) = r#use.as_ref().filter(|is_for| *is_for != "sig") {
            return wrong("use", format!("is `{other}`, and tokens are signed, `sig`: {MEND}"));
        }
        if key_ops.as_ref().is_some_and(|operations| operations.iter().all(|one| one != "sign")) {
            return wrong("key_ops", format!("do not have `sign`: {MEND}"));
        }
        if matches!(self, Self::Rsa(RsaPrivateJwk { oth: Some(_), .. })) {
            let reason = "the key has more than two factors, `p` and `q`: take one that has two";
            return wrong("oth", reason.to_owned());
        }
        Ok(())
    }

    /// The key, ready to sign. Takes some milliseconds.
    ///
    /// # Errors
    /// [`SigningKeyError::Name`], [`SigningKeyError::Unsupported`].
    pub fn open(&self) -> Result<SigningKey, SigningKeyError> {
        let is_plain =
            |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
        let kid = self.kid();
        if !(1..=LONGEST_KID).contains(&kid.len()) || !kid.bytes().all(is_plain) {
            return Err(SigningKeyError::Name);
        }
        let pair = match self {
            Self::Rsa(key) => key.pair().map(Pair::Rsa),
            Self::Ec(key) => key.pair().map(Pair::Ec),
        };
        SigningKey::with_pair(kid.to_owned(), pair.ok_or(SigningKeyError::Unsupported)?)
    }
}

// === impl RsaPrivateJwk ===

impl RsaPrivateJwk {
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

// === impl EcPrivateJwk ===

impl EcPrivateJwk {
    /// The library checks whether the parts belong together.
    fn pair(&self) -> Option<EcdsaKeyPair> {
        let Curve::P256 = self.crv;
        let [x, y] = [&self.x, &self.y].map(|coordinate| number(coordinate));
        let point = [UNCOMPRESSED, &x?, &y?].concat();
        EcdsaKeyPair::from_private_key_and_public_key(
            &ECDSA_P256_SHA256_FIXED_SIGNING,
            &number(self.d.expose_secret())?,
            &point,
        )
        .ok()
    }
}

/// Without the private parts.
impl fmt::Debug for PrivateJwk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PrivateJwk").field("kid", &self.kid()).finish_non_exhaustive()
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
        Jwk, KeyRecord, KeyRing,
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
        assert_eq!(key.kid(), "0f1e2d3c4b5a49788796a5b4c3d2e1f0");
        let Jwk::Rsa { n, .. } = key.public_jwk() else { panic!("an RSA key") };
        assert_eq!(jwk()["n"], n.as_str());
        let record = KeyRecord::seal(&secret(), &key, 1).unwrap();
        let ring = KeyRing::open(&secret(), &[record]).unwrap();
        let token = key.sign(&claims()).unwrap();
        assert_eq!(verify(&token, &ring, &room("sale"), claims().iat), Ok(claims()));
    }

    /// As the original of the AWS-style API keeps it, in the secret `{stack}/jwk-private`: without a use, in this order.
    #[test]
    fn the_key_of_the_aws_original_is_read_as_it_is() {
        let mut members = jwk();
        let members = members.as_object_mut().unwrap();
        members.remove("use");
        let order = ["alg", "d", "dp", "dq", "e", "kid", "kty", "n", "p", "q", "qi"];
        let text: Vec<_> =
            order.iter().map(|name| format!("\"{name}\": {}", members[*name])).collect();
        assert_eq!(order.len(), members.len());
        let read: PrivateJwk = serde_json::from_str(&format!("{{{}}}", text.join(", "))).unwrap();
        assert_eq!(read.open().unwrap().kid(), "0f1e2d3c4b5a49788796a5b4c3d2e1f0");
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

    /// The example of RFC 7515, A.3, with a name.
    fn on_a_curve() -> Value {
        json!({
            "kty": "EC", "crv": "P-256", "kid": "of-the-rfc",
            "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
            "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
            "d": "jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI",
        })
    }

    #[test]
    fn an_imported_key_on_a_curve_keeps_its_name_and_signs() {
        let key = open(on_a_curve()).unwrap();
        let Jwk::Ec { kid, x, y, .. } = key.public_jwk() else { panic!("a key on a curve") };
        let [read, given] =
            [[kid, x, y].map(|it| json!(it)), ["kid", "x", "y"].map(|it| on_a_curve()[it].clone())];
        assert_eq!(read, given);
        let record = KeyRecord::seal(&secret(), &key, 1).unwrap();
        let ring = KeyRing::open(&secret(), &[record]).unwrap();
        let token = key.sign(&claims()).unwrap();
        assert_eq!(verify(&token, &ring, &room("sale"), claims().iat), Ok(claims()));
    }

    #[test]
    fn parts_on_a_curve_that_do_not_belong_together_are_refused() {
        let zero = URL_SAFE_NO_PAD.encode([0; 32]);
        for field in ["x", "y", "d"] {
            let other = if field == "x" { "y" } else { "x" };
            let other = on_a_curve()[other].as_str().unwrap().to_owned();
            for wrong in [other.as_str(), "", "AQAB", "no base64!", &zero] {
                let mut changed = on_a_curve();
                changed[field] = json!(wrong);
                let opened = open(changed).map(|key| key.kid().to_owned());
                assert_eq!(opened, Err(SigningKeyError::Unsupported), "{field}: {wrong}");
            }
        }
        let mut other_curve = on_a_curve();
        other_curve["crv"] = json!("P-384");
        assert!(serde_json::from_value::<PrivateJwk>(other_curve).is_err());
    }

    #[test]
    fn a_key_for_something_else_is_refused() {
        let wrong = |mut jwk: Value, member: &str, value: Value| {
            jwk[member] = value;
            let read: PrivateJwk = serde_json::from_value(jwk).unwrap();
            read.check_purpose().err().map(|wrong| (wrong.member, wrong.reason))
        };
        for jwk in [jwk(), on_a_curve()] {
            let signs_with = if jwk["kty"] == "RSA" { "RS256" } else { "ES256" };
            for (member, value) in [
                ("alg", json!("RS512")),
                ("alg", json!("none")),
                ("use", json!("enc")),
                ("key_ops", json!(["encrypt", "verify"])),
                ("key_ops", json!([])),
            ] {
                let (named, reason) = wrong(jwk.clone(), member, value).unwrap();
                assert_eq!(named, member);
                assert!(reason.contains("leave this member out"), "{reason}");
            }
            for (member, value) in [
                ("alg", json!(signs_with)),
                ("alg", Value::Null),
                ("use", json!("sig")),
                ("key_ops", json!(["sign", "verify"])),
                ("ext", json!(true)),
            ] {
                assert_eq!(wrong(jwk.clone(), member, value), None, "{member}");
            }
        }
        let (named, _) = wrong(jwk(), "oth", json!([{ "r": "x", "d": "x", "t": "x" }])).unwrap();
        assert_eq!(named, "oth");
        assert_eq!(wrong(jwk(), "oth", Value::Null), None);
    }

    #[test]
    fn names_that_would_have_to_be_escaped_are_refused() {
        for kid in ["", "a\"b", "a b", &"k".repeat(65)] {
            assert_eq!(open(with("kid", kid)).unwrap_err(), SigningKeyError::Name, "{kid}");
        }
    }

    #[test]
    fn debug_shows_no_private_part() {
        for jwk in [jwk(), on_a_curve()] {
            let read: PrivateJwk = serde_json::from_value(jwk.clone()).unwrap();
            let printed = format!("{read:?}");
            assert!(!printed.contains(jwk["d"].as_str().unwrap()), "{printed}");
        }
    }
}
