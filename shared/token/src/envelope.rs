//! Envelopes: what a browser or a site carries for the services for a while, sealed so that only they can read or change
//! it. Any value that can be written as JSON, under one key for each purpose. Tickets, of which there are many more, have a
//! form of their own.
//!
//! The version, a random nonce, what is sealed, and the tag, as base64url. Of the nonces the same holds as of tickets'.

use std::marker::PhantomData;

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use rand::RngCore;
use serde::{Serialize, de::DeserializeOwned};
use thiserror::Error;

use crate::{DeploymentSecret, secret::Derived};

const VERSION: u8 = 1;

/// The longest text that is opened, in bytes.
const LONGEST: usize = 8 * 1024;

/// Seals and opens values of one kind.
pub struct Envelope<T> {
    keys: Derived<LessSafeKey>,
    content: PhantomData<fn(T) -> T>,
}

/// Why an envelope was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum EnvelopeError {
    /// Not an envelope, or one of a version or with a content that this release does not know.
    #[error("it cannot be read")]
    Malformed,
    /// Well-formed, but of another room or purpose, of before a reset, or forged.
    #[error("it is not of this room")]
    Foreign,
}

// === impl Envelope ===

impl<T: Serialize + DeserializeOwned> Envelope<T> {
    /// Those for `purpose`, in this `context`.
    ///
    /// # Panics
    /// Never: the key has the length that AES-256 needs.
    pub(crate) fn new(secret: &DeploymentSecret, purpose: &str, context: &[&[u8]]) -> Self {
        let keys = secret.derive_each::<32, _>(purpose, context, |key| {
            let key = UnboundKey::new(&AES_256_GCM, key.as_slice());
            LessSafeKey::new(key.expect("32 bytes are an AES-256 key"))
        });
        Self { keys, content: PhantomData }
    }

    /// The sealed `value`: another text each time, safe in an address.
    ///
    /// # Panics
    /// Never: GCM refuses only messages of many gigabytes.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "each envelope needs a nonce of its own")]
    pub fn seal(&self, value: &T) -> String {
        let mut nonce = [0; NONCE_LEN];
        rand::rng().fill_bytes(&mut nonce);
        // Only maps with other keys than texts cannot be written.
        let mut content = serde_json::to_vec(value).unwrap_or_default();
        let sealing = Nonce::assume_unique_for_key(nonce);
        self.keys
            .current()
            .seal_in_place_append_tag(sealing, Aad::from([VERSION]), &mut content)
            .expect("a short text is not too long to seal");
        URL_SAFE_NO_PAD.encode([&[VERSION][..], &nonce, &content].concat())
    }

    /// What is in the envelope `text`.
    ///
    /// # Errors
    /// [`EnvelopeError`] says why it is refused.
    pub fn open(&self, text: &str) -> Result<T, EnvelopeError> {
        let malformed = EnvelopeError::Malformed;
        if text.len() > LONGEST {
            return Err(malformed);
        }
        let sealed = URL_SAFE_NO_PAD.decode(text).map_err(|_| malformed)?;
        let (&[version], rest) = sealed.split_first_chunk().ok_or(malformed)?;
        let (nonce, content) = rest.split_first_chunk::<NONCE_LEN>().ok_or(malformed)?;
        if version != VERSION {
            return Err(malformed);
        }
        let open = |key: &LessSafeKey| {
            let mut content = content.to_vec();
            let nonce = Nonce::assume_unique_for_key(*nonce);
            let opened = key.open_in_place(nonce, Aad::from([VERSION]), &mut content).ok()?;
            Some(serde_json::from_slice(opened).map_err(|_| malformed))
        };
        self.keys.find(open).ok_or(EnvelopeError::Foreign)?
    }
}

impl<T> std::fmt::Debug for Envelope<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Envelope([REDACTED])")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::secret;

    fn envelope(purpose: &str, context: &[u8]) -> Envelope<String> {
        Envelope::new(&secret(), purpose, &[context])
    }

    #[test]
    fn what_is_sealed_is_opened_and_looks_otherwise_each_time() {
        let codes = envelope("code", b"sale");
        let [one, other] = [(); 2].map(|()| codes.seal(&"état=1".to_owned()));
        assert_ne!(one, other);
        assert!(one.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)));
        assert_eq!(codes.open(&one).as_deref(), Ok("état=1"));
        assert_eq!(codes.open(&other).as_deref(), Ok("état=1"));
    }

    #[test]
    fn it_opens_for_its_purpose_and_context_only_and_unaltered() {
        let codes = envelope("code", b"sale");
        let sealed = codes.seal(&"x".to_owned());
        assert_eq!(envelope("login", b"sale").open(&sealed), Err(EnvelopeError::Foreign));
        assert_eq!(envelope("code", b"sal").open(&sealed), Err(EnvelopeError::Foreign));
        for place in 0..sealed.len() {
            let mut altered = sealed.clone().into_bytes();
            altered[place] = if altered[place] == b'A' { b'B' } else { b'A' };
            let altered = String::from_utf8(altered).unwrap();
            assert!(codes.open(&altered).is_err(), "{place}");
        }
        for wrong in ["", "A", "AQ", "not base64!", &"A".repeat(LONGEST + 1)] {
            assert_eq!(codes.open(wrong), Err(EnvelopeError::Malformed));
        }
        let numbers: Envelope<u64> = Envelope::new(&secret(), "code", &[b"sale"]);
        assert_eq!(numbers.open(&sealed), Err(EnvelopeError::Malformed), "another content");
    }

    #[test]
    fn one_of_before_the_secret_was_replaced_still_opens() {
        let sealed = envelope("code", b"sale").seal(&"x".to_owned());
        let new = DeploymentSecret::new(&[7; 32]).unwrap();
        let codes: Envelope<String> =
            Envelope::new(&new.with_others([secret()]), "code", &[b"sale"]);
        assert_eq!(codes.open(&sealed).as_deref(), Ok("x"));
    }
}
