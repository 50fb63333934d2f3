//! The deployment secret and the keys derived from it. All derivations are here, so that no two
//! purposes can share a key. Where the secret comes from (option, environment, file) is decided
//! elsewhere.

use aws_lc_rs::hkdf::{HKDF_SHA256, KeyType, Salt};
use secrecy::{ExposeSecret, SecretSlice};
use thiserror::Error;
use zeroize::Zeroizing;

/// The salt is public and fixed, as RFC 5869 allows. Changing it changes every derived key.
const SALT: &[u8] = b"vestibule/hkdf-sha256/v1";

/// The longest output of HKDF-SHA256: 255 blocks of 32 bytes.
const LONGEST_KEY: usize = 255 * 32;

/// The secret of a deployment, from which all other secrets are derived. It is wiped when dropped,
/// and never printed.
///
/// It should be random: HKDF does not slow down guessing a passphrase.
///
/// While it is replaced there are others, which open what they have sealed: see [`Self::with_others`].
#[derive(Debug)]
pub struct DeploymentSecret {
    current: SecretSlice<u8>,
    others: Vec<SecretSlice<u8>>,
}

/// What is derived from each of the secrets for one purpose: whatever is made is made by that of the current one, and all
/// of them are tried when something is read.
pub(crate) struct Derived<T> {
    current: T,
    others: Vec<T>,
}

/// The secret has fewer than [`DeploymentSecret::MIN_BYTES`] bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the deployment secret has {0} bytes; it needs at least {min}", min = DeploymentSecret::MIN_BYTES)]
pub struct SecretTooShort(
    /// How many bytes it has.
    pub usize,
);

struct KeyLength(usize);

// === impl DeploymentSecret ===

impl DeploymentSecret {
    /// The fewest bytes a secret may have.
    pub const MIN_BYTES: usize = 32;

    /// Copies `bytes` as the secret, white space included.
    ///
    /// # Errors
    /// [`SecretTooShort`] below [`Self::MIN_BYTES`].
    pub fn new(bytes: &[u8]) -> Result<Self, SecretTooShort> {
        if bytes.len() < Self::MIN_BYTES {
            return Err(SecretTooShort(bytes.len()));
        }
        Ok(Self { current: bytes.to_vec().into(), others: Vec::new() })
    }

    /// The same, while a deployment changes from one secret to another: what `others` have sealed is opened, too. Nothing
    /// is sealed under them.
    #[must_use]
    pub fn with_others(self, others: impl IntoIterator<Item = Self>) -> Self {
        let others = others.into_iter().map(|other| other.current).collect();
        Self { others, ..self }
    }

    /// Whether there are others beside the current one.
    #[must_use]
    pub fn is_being_replaced(&self) -> bool {
        !self.others.is_empty()
    }

    /// The key of `N` bytes for one `purpose` and `context`, of the current secret. The same three always give the same
    /// key, and any difference gives an unrelated one.
    ///
    /// # Panics
    /// Never: the length is checked at compile time, and HKDF cannot fail otherwise.
    #[must_use]
    pub fn derive<const N: usize>(&self, purpose: &str, context: &[&[u8]]) -> Zeroizing<[u8; N]> {
        derive(&self.current, purpose, context)
    }

    /// What `make` makes of the key of each secret.
    pub(crate) fn derive_each<const N: usize, T>(
        &self,
        purpose: &str,
        context: &[&[u8]],
        make: impl Fn(Zeroizing<[u8; N]>) -> T,
    ) -> Derived<T> {
        let of = |secret: &SecretSlice<u8>| make(derive(secret, purpose, context));
        Derived { current: of(&self.current), others: self.others.iter().map(of).collect() }
    }
}

// === impl Derived ===

impl<T> Derived<T> {
    /// That of the current secret.
    pub(crate) fn current(&self) -> &T {
        &self.current
    }

    /// Whether there is no other than that of the current one.
    pub(crate) fn is_alone(&self) -> bool {
        self.others.is_empty()
    }

    /// That of each secret; that of the current one first.
    pub(crate) fn each(&self) -> impl Iterator<Item = &T> {
        std::iter::once(&self.current).chain(&self.others)
    }

    /// The first that can be read with one of them.
    pub(crate) fn find<R>(&self, read: impl Fn(&T) -> Option<R>) -> Option<R> {
        self.each().find_map(read)
    }
}

fn derive<const N: usize>(
    secret: &SecretSlice<u8>,
    purpose: &str,
    context: &[&[u8]],
) -> Zeroizing<[u8; N]> {
    const { assert!(N <= LONGEST_KEY) };
    let info = unambiguous(purpose, context);
    let mut key = Zeroizing::new([0; N]);
    Salt::new(HKDF_SHA256, SALT)
        .extract(secret.expose_secret())
        .expand(&[&info], KeyLength(N))
        .and_then(|okm| okm.fill(key.as_mut()))
        .expect("HKDF gives any length up to LONGEST_KEY");
    key
}

/// Each part is preceded by its length, so that ("ab", "c") and ("a", "bc") differ.
fn unambiguous(purpose: &str, context: &[&[u8]]) -> Vec<u8> {
    let mut info = Vec::new();
    for part in std::iter::once(&purpose.as_bytes()).chain(context) {
        info.extend_from_slice(&(part.len() as u64).to_be_bytes());
        info.extend_from_slice(part);
    }
    info
}

// === impl KeyLength ===

impl KeyType for KeyLength {
    fn len(&self) -> usize {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret() -> DeploymentSecret {
        DeploymentSecret::new(b"0123456789abcdef0123456789abcdef").unwrap()
    }

    #[test]
    fn thirty_one_bytes_are_too_few() {
        let error = DeploymentSecret::new(&[7; 31]).unwrap_err();
        assert_eq!(error, SecretTooShort(31));
        assert_eq!(error.to_string(), "the deployment secret has 31 bytes; it needs at least 32");
        assert!(DeploymentSecret::new(&[7; 32]).is_ok());
    }

    #[test]
    fn debug_shows_nothing() {
        let printed = format!("{:?}", secret());
        assert!(printed.contains("REDACTED"), "{printed}");
        assert!(!printed.contains("48, 49"), "{printed}");
        assert!(!printed.contains("0123"), "{printed}");
    }

    #[test]
    fn every_part_changes_the_key() {
        let other = DeploymentSecret::new(&[7; 32]).unwrap();
        let keys: [Zeroizing<[u8; 32]>; 6] = [
            secret().derive("ticket", &[b"ab", b"c"]),
            secret().derive("ticket", &[b"a", b"bc"]),
            secret().derive("ticket", &[b"ab", b"c", b""]),
            secret().derive("ticketab", &[b"c"]),
            secret().derive("request id", &[b"ab", b"c"]),
            other.derive("ticket", &[b"ab", b"c"]),
        ];
        for (i, key) in keys.iter().enumerate() {
            assert!(!keys[..i].contains(key), "key {i} repeats an earlier one");
        }
        assert_eq!(keys[0], secret().derive("ticket", &[b"ab", b"c"]));
    }

    /// Every existing request id and ticket depends on this value.
    #[test]
    fn derivation_is_pinned() {
        let key = secret().derive::<16>("test", &[b"room", &7u64.to_be_bytes()]);
        assert_eq!(hex(key.as_slice()), "7f7bc53baa95f2342ee1223dba6237c4");
    }

    fn hex(bytes: &[u8]) -> String {
        use std::fmt::Write;
        bytes.iter().fold(String::new(), |mut text, byte| {
            write!(text, "{byte:02x}").unwrap();
            text
        })
    }
}
