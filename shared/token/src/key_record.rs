//! A signing key as it is stored. The private key is sealed under the deployment secret, so that
//! reading the store is not enough to sign. Which keys are in use is decided in the key ring.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{
    DeploymentSecret, Jwk, SigningKey, SigningKeyError,
    sealed::{SealingKeys, Unopened},
};

const PURPOSE: &str = "key ring";
/// Whoever has not read the ring for so long knows nothing of it that counts, in seconds: a day.
pub(crate) const READ_WITHIN: u64 = 86_400;

/// A signing key as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyRecord {
    /// The key's name.
    pub kid: String,
    /// The private key, sealed, in base64: nonce, PKCS #8 under AES-256-GCM, tag. The name is
    /// authenticated with it.
    pub sealed_private_key: String,
    /// The public key.
    pub public: Jwk,
    /// When the key was made, unix seconds.
    pub created_at: u64,
    /// When it begins to sign, unix seconds, for a key that is only announced; `None` for one that
    /// signs or has signed.
    #[serde(default)]
    pub signs_from: Option<u64>,
    /// Until when tokens signed by it may still be valid, unix seconds; `None` for one that signs
    /// or is announced.
    pub retires_at: Option<u64>,
    /// Whether an operator has withdrawn it: nothing verifies by it, whatever its tokens say. The record stays until
    /// their time is over, because a ring that lacks a key passes for one of an older Redis.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub withdrawn: bool,
}

/// Why stored keys could not be opened, or a key could not be stored.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum KeyRingError {
    /// The records were sealed under another deployment secret (or altered since).
    #[error(
        "the deployment secret does not open the stored signing keys: \
         every service needs the secret that they were made with"
    )]
    WrongSecret,
    /// The record of this key is damaged.
    #[error("the stored signing key {0} is damaged")]
    Damaged(String),
    /// The key could not be prepared for storing.
    #[error("the signing key could not be sealed")]
    Sealing(#[from] SigningKeyError),
}

// === impl KeyRecord ===

impl KeyRecord {
    /// The record of `key`, made at `created_at` (unix seconds) and not retired.
    ///
    /// # Errors
    /// [`KeyRingError::Sealing`] when the cryptographic library refuses.
    pub fn seal(
        secret: &DeploymentSecret,
        key: &SigningKey,
        created_at: u64,
    ) -> Result<Self, KeyRingError> {
        let mut private = key.to_pkcs8()?;
        let sealed = SealingKeys::new(secret, PURPOSE).seal(key.kid(), &mut private);
        let sealed = sealed.ok_or(KeyRingError::Sealing(SigningKeyError::Unsupported))?;
        Ok(Self {
            kid: key.kid().to_owned(),
            sealed_private_key: sealed,
            public: key.public_jwk().clone(),
            created_at,
            signs_from: None,
            retires_at: None,
            withdrawn: false,
        })
    }

    /// The key itself, parsed and ready to sign.
    ///
    /// # Errors
    /// [`KeyRingError::WrongSecret`] and [`KeyRingError::Damaged`].
    pub fn open(&self, secret: &DeploymentSecret) -> Result<SigningKey, KeyRingError> {
        let damaged = || KeyRingError::Damaged(self.kid.clone());
        let pkcs8 = SealingKeys::new(secret, PURPOSE).open(&self.kid, &self.sealed_private_key);
        let pkcs8 = pkcs8.map_err(|error| match error {
            Unopened::Damaged => damaged(),
            Unopened::WrongSecret => KeyRingError::WrongSecret,
        })?;
        let key = SigningKey::from_pkcs8(self.kid.clone(), self.public.algorithm(), &pkcs8)
            .map_err(|_| damaged())?;
        // The public key is stored unencrypted. A replaced one must not reach gateways.
        if key.public_jwk() == &self.public { Ok(key) } else { Err(damaged()) }
    }

    /// The same key sealed under the current secret, if it was sealed under another one that is known.
    #[must_use]
    pub(crate) fn reseal(&self, secret: &DeploymentSecret) -> Option<Self> {
        let keys = SealingKeys::new(secret, PURPOSE);
        let sealed = keys.reseal(&self.kid, &self.sealed_private_key)?;
        Some(Self { sealed_private_key: sealed, ..self.clone() })
    }

    /// Whether it signs: it is neither only announced nor retired nor withdrawn.
    #[must_use]
    pub fn signs(&self) -> bool {
        self.signs_from.is_none() && self.retires_at.is_none() && !self.withdrawn
    }

    /// Whether the record is kept at `now` (unix seconds): for so long after the time of its tokens that every service
    /// has read what the key came to be.
    #[must_use]
    pub fn is_kept_at(&self, now: u64) -> bool {
        self.retires_at.is_none_or(|end| now <= end.saturating_add(READ_WITHIN))
    }

    /// Whether tokens signed by this key may be valid at `now` (unix seconds).
    #[must_use]
    pub fn verifies_at(&self, now: u64) -> bool {
        !self.withdrawn && self.retires_at.is_none_or(|end| now <= end)
    }
}

#[cfg(test)]
mod tests {
    use base64::{Engine, engine::general_purpose::STANDARD};

    use super::*;
    use crate::test_support::{claims, curve_key, key, other_key, secret};

    /// The public half of `key` under the name of [`key`].
    fn renamed_jwk(other: &SigningKey) -> Jwk {
        let mut jwk = serde_json::to_value(other.public_jwk()).unwrap();
        jwk["kid"] = key().kid().into();
        serde_json::from_value(jwk).unwrap()
    }

    fn record() -> KeyRecord {
        KeyRecord::seal(&secret(), key(), 1_000).unwrap()
    }

    #[test]
    fn a_stored_key_signs_as_before() {
        let stored = serde_json::to_string(&record()).unwrap();
        let read: KeyRecord = serde_json::from_str(&stored).unwrap();
        let opened = read.open(&secret()).unwrap();
        assert_eq!(opened.kid(), key().kid());
        assert_eq!(opened.sign(&claims()).unwrap(), key().sign(&claims()).unwrap());
    }

    #[test]
    fn a_stored_key_on_a_curve_is_the_same_key() {
        let stored = KeyRecord::seal(&secret(), curve_key(), 1_000).unwrap();
        let stored = serde_json::to_string(&stored).unwrap();
        let read: KeyRecord = serde_json::from_str(&stored).unwrap();
        assert_eq!(read.open(&secret()).unwrap().public_jwk(), curve_key().public_jwk());
    }

    /// What a release before there were keys on a curve reads: it refuses the whole ring if one is in it.
    #[test]
    fn a_key_on_a_curve_can_be_told_from_what_older_releases_read() {
        let stored = |key| serde_json::to_value(KeyRecord::seal(&secret(), key, 1_000).unwrap());
        assert_eq!(stored(key()).unwrap()["public"]["kty"], "RSA");
        assert_eq!(stored(curve_key()).unwrap()["public"]["kty"], "EC");
    }

    #[test]
    fn the_private_key_is_not_stored_in_clear() {
        let sealed = STANDARD.decode(record().sealed_private_key).unwrap();
        let pkcs8 = key().to_pkcs8().unwrap();
        let secret_part = &pkcs8[600..632];
        assert!(!sealed.windows(32).any(|window| window == secret_part));
        assert_ne!(record().sealed_private_key, record().sealed_private_key, "a nonce repeats");
    }

    #[test]
    fn another_secret_is_told_apart_from_damage() {
        let other = DeploymentSecret::new(&[9; 32]).unwrap();
        assert_eq!(record().open(&other).unwrap_err(), KeyRingError::WrongSecret);
        let damaged = KeyRingError::Damaged(key().kid().to_owned());
        let cut = KeyRecord { sealed_private_key: "AAAA".to_owned(), ..record() };
        assert_eq!(cut.open(&secret()).unwrap_err(), damaged);
        let garbled = KeyRecord { sealed_private_key: "no base64".to_owned(), ..record() };
        assert_eq!(garbled.open(&secret()).unwrap_err(), damaged);
    }

    #[test]
    fn a_key_is_sealed_anew_when_the_secret_was_replaced() {
        let new = || DeploymentSecret::new(&[9; 32]).unwrap();
        let both = new().with_others([secret()]);
        assert_eq!(record().open(&both).unwrap().kid(), key().kid());
        let resealed = record().reseal(&both).unwrap();
        assert_eq!(resealed.open(&new()).unwrap().kid(), key().kid());
        assert_eq!(resealed.reseal(&both), None, "once is enough");
        assert_eq!(record().reseal(&new()), None, "nobody can");
    }

    #[test]
    fn a_key_cannot_be_renamed_nor_its_public_half_replaced() {
        let renamed = KeyRecord { kid: "0".repeat(32), ..record() };
        assert_eq!(renamed.open(&secret()).unwrap_err(), KeyRingError::WrongSecret);
        for other in [other_key(), curve_key()] {
            let replaced = KeyRecord { public: renamed_jwk(other), ..record() };
            let damaged = KeyRingError::Damaged(key().kid().to_owned());
            assert_eq!(replaced.open(&secret()).unwrap_err(), damaged);
        }
    }
}
