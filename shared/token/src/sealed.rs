//! Small secrets as they are stored: sealed under the deployment secret by AES-256-GCM, with the name of what they belong
//! to, so that reading the store is not enough to use them, and none can be put in another's place.

use aws_lc_rs::aead::{AES_256_GCM, Aad, NONCE_LEN, Nonce, RandomizedNonceKey};
use base64::{Engine, engine::general_purpose::STANDARD};
use zeroize::Zeroizing;

use crate::{DeploymentSecret, secret::Derived};

/// Why something sealed cannot be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unopened {
    /// It is no such text.
    Damaged,
    /// It was sealed under another secret, for another purpose or name, or altered since.
    WrongSecret,
}

/// The keys of one purpose. Each nonce is random and from the system: a deployment seals only a few things in its life.
pub(crate) struct SealingKeys(Derived<RandomizedNonceKey>);

// === impl SealingKeys ===

impl SealingKeys {
    pub(crate) fn new(secret: &DeploymentSecret, purpose: &str) -> Self {
        Self(secret.derive_each::<32, _>(purpose, &[], |key| {
            let key = RandomizedNonceKey::new(&AES_256_GCM, key.as_slice());
            key.expect("32 bytes are an AES-256 key")
        }))
    }

    /// `content` sealed, in base64: nonce, ciphertext, tag. `name` is authenticated with it. `None`: the library refuses.
    pub(crate) fn seal(&self, name: &str, content: &mut [u8]) -> Option<String> {
        let key = self.0.current();
        let (nonce, tag) = key.seal_in_place_separate_tag(Aad::from(name), content).ok()?;
        Some(STANDARD.encode([nonce.as_ref().as_slice(), content, tag.as_ref()].concat()))
    }

    /// What was sealed.
    pub(crate) fn open(&self, name: &str, sealed: &str) -> Result<Zeroizing<Vec<u8>>, Unopened> {
        let (nonce, sealed) = parts(sealed).ok_or(Unopened::Damaged)?;
        let opened = self.0.find(|key| open_with(key, name, nonce, &sealed));
        opened.ok_or(Unopened::WrongSecret)
    }

    /// The same sealed under the current secret, if it was sealed under another one that is known.
    pub(crate) fn reseal(&self, name: &str, sealed: &str) -> Option<String> {
        let (nonce, content) = parts(sealed)?;
        if open_with(self.0.current(), name, nonce, &content).is_some() {
            return None;
        }
        let mut content = self.0.find(|key| open_with(key, name, nonce, &content))?;
        self.seal(name, &mut content)
    }
}

fn parts(sealed: &str) -> Option<([u8; NONCE_LEN], Vec<u8>)> {
    let sealed = STANDARD.decode(sealed).ok()?;
    let (nonce, content) = sealed.split_first_chunk()?;
    Some((*nonce, content.to_vec()))
}

/// The content; none: it was sealed with another key.
fn open_with(
    key: &RandomizedNonceKey,
    name: &str,
    nonce: [u8; NONCE_LEN],
    sealed: &[u8],
) -> Option<Zeroizing<Vec<u8>>> {
    let mut content = Zeroizing::new(sealed.to_vec());
    let nonce = Nonce::assume_unique_for_key(nonce);
    let length = key.open_in_place(nonce, Aad::from(name), &mut content).ok()?.len();
    content.truncate(length);
    Some(content)
}
