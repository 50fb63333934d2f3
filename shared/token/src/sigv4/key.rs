//! What a signer of requests has, and how it is stored: unlike the tokens that callers show it must be known to check a
//! signature, so it is sealed under the deployment secret instead of hashed.

use std::fmt;

use aws_lc_rs::{
    constant_time::verify_slices_are_equal,
    hmac::{self, HMAC_SHA256},
};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use thiserror::Error;
use zeroize::Zeroizing;

use crate::{
    DeploymentSecret,
    sealed::{SealingKeys, Unopened},
};

const PURPOSE: &str = "sigv4 key";

/// A secret access key, perhaps with the session token that must be sent with it. It is never printed.
#[derive(Clone)]
pub struct SigV4Key {
    secret: SecretString,
    session_token: Option<SecretString>,
}

/// Why a stored key cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum SealedKeyError {
    /// It was sealed under another deployment secret, or for another name, or altered since.
    #[error("the deployment secret does not open the stored key")]
    WrongSecret,
    /// It is damaged.
    #[error("the stored key is damaged")]
    Damaged,
    /// The cryptographic library refuses.
    #[error("the key could not be sealed")]
    Sealing,
}

/// What is sealed.
#[derive(Serialize, Deserialize)]
struct Content<'a> {
    #[serde(borrow)]
    secret: std::borrow::Cow<'a, str>,
    #[serde(borrow)]
    session_token: Option<std::borrow::Cow<'a, str>>,
}

// === impl SigV4Key ===

impl SigV4Key {
    /// A key.
    #[must_use]
    pub fn new(secret: SecretString, session_token: Option<SecretString>) -> Self {
        Self { secret, session_token }
    }

    /// The key as it is stored, for the access key id `name`, which is authenticated with it.
    ///
    /// # Errors
    /// [`SealedKeyError::Sealing`].
    pub fn seal(&self, secret: &DeploymentSecret, name: &str) -> Result<String, SealedKeyError> {
        let content = Content {
            secret: self.secret.expose_secret().into(),
            session_token: self.session_token.as_ref().map(|token| token.expose_secret().into()),
        };
        let json = serde_json::to_vec(&content).map_err(|_| SealedKeyError::Sealing)?;
        let mut json = Zeroizing::new(json);
        SealingKeys::new(secret, PURPOSE).seal(name, &mut json).ok_or(SealedKeyError::Sealing)
    }

    /// The stored key of `name`.
    ///
    /// # Errors
    /// [`SealedKeyError::WrongSecret`], [`SealedKeyError::Damaged`].
    pub fn open(
        secret: &DeploymentSecret,
        name: &str,
        sealed: &str,
    ) -> Result<Self, SealedKeyError> {
        let json = SealingKeys::new(secret, PURPOSE).open(name, sealed);
        let json = json.map_err(|error| match error {
            Unopened::Damaged => SealedKeyError::Damaged,
            Unopened::WrongSecret => SealedKeyError::WrongSecret,
        })?;
        let content: Content<'_> =
            serde_json::from_slice(&json).map_err(|_| SealedKeyError::Damaged)?;
        let session_token = content.session_token.map(|token| token.into_owned().into());
        Ok(Self { secret: content.secret.into_owned().into(), session_token })
    }

    /// The stored key sealed under the current secret, if it was sealed under another one that is known.
    #[must_use]
    pub fn reseal(secret: &DeploymentSecret, name: &str, sealed: &str) -> Option<String> {
        SealingKeys::new(secret, PURPOSE).reseal(name, sealed)
    }

    /// Whether a session token is part of it.
    #[must_use]
    pub fn is_temporary(&self) -> bool {
        self.session_token.is_some()
    }

    /// Whether `sent` is the session token of the key: none, if it has none.
    pub(super) fn has_session_token(&self, sent: Option<&str>) -> bool {
        match (&self.session_token, sent) {
            (None, None) => true,
            (Some(own), Some(sent)) => {
                let own = own.expose_secret().as_bytes();
                verify_slices_are_equal(own, sent.as_bytes()).is_ok()
            }
            _ => false,
        }
    }

    /// Where the chain of keys begins.
    pub(super) fn first(&self) -> hmac::Key {
        let text = Zeroizing::new(format!("AWS4{}", self.secret.expose_secret()));
        hmac::Key::new(HMAC_SHA256, text.as_bytes())
    }
}

impl fmt::Debug for SigV4Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigV4Key").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::secret;

    fn key() -> SigV4Key {
        SigV4Key::new("a \"secret\" key".into(), Some("session token".into()))
    }

    #[test]
    fn a_stored_key_is_the_same_key_and_nobody_reads_it() {
        let sealed = key().seal(&secret(), "AKID").unwrap();
        let opened = SigV4Key::open(&secret(), "AKID", &sealed).unwrap();
        assert_eq!(opened.secret.expose_secret(), "a \"secret\" key");
        assert!(opened.has_session_token(Some("session token")));
        assert!(!opened.has_session_token(Some("session")) && !opened.has_session_token(None));
        assert_ne!(sealed, key().seal(&secret(), "AKID").unwrap(), "a nonce repeats");
        assert!(!format!("{:?}", key()).contains("secret"));
    }

    #[test]
    fn a_stored_key_opens_under_its_own_name_and_secret_alone() {
        let sealed = key().seal(&secret(), "AKID").unwrap();
        let open = |secret: &DeploymentSecret, name: &str, sealed: &str| {
            SigV4Key::open(secret, name, sealed).map(|_| ())
        };
        assert_eq!(open(&secret(), "OTHER", &sealed), Err(SealedKeyError::WrongSecret));
        let other = DeploymentSecret::new(&[9; 32]).unwrap();
        assert_eq!(open(&other, "AKID", &sealed), Err(SealedKeyError::WrongSecret));
        assert_eq!(open(&secret(), "AKID", "no base64"), Err(SealedKeyError::Damaged));
        assert_eq!(open(&secret(), "AKID", "AAAA"), Err(SealedKeyError::Damaged));
        let both = other.with_others([secret()]);
        let resealed = SigV4Key::reseal(&both, "AKID", &sealed).unwrap();
        assert_eq!(SigV4Key::reseal(&both, "AKID", &resealed), None, "once is enough");
        let other = DeploymentSecret::new(&[9; 32]).unwrap();
        assert_eq!(open(&other, "AKID", &resealed), Ok(()));
    }
}
