//! The secrets of OpenID Connect clients: made here, told once, and kept as their hash. They are random and long, so a
//! plain hash tells whoever reads it nothing.

use aws_lc_rs::{
    constant_time::verify_slices_are_equal,
    digest::{SHA256, digest},
};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use rand::Rng;
use secrecy::{ExposeSecret, SecretString};

/// What every secret that is made here begins with, so that programs that look for secrets know it.
const START: &str = "vcs_";
/// What a hash begins with.
const ALGORITHM: &str = "sha256:";

/// A client's secret.
#[derive(Debug, Clone)]
pub struct ClientSecret(SecretString);

// === impl ClientSecret ===

impl ClientSecret {
    /// A new one, of 256 random bits.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "a secret is random")]
    pub fn random() -> Self {
        let bits: [u8; 32] = rand::rng().random();
        Self(format!("{START}{}", URL_SAFE_NO_PAD.encode(bits)).into())
    }

    /// The one that somebody shows.
    #[must_use]
    pub fn shown(text: SecretString) -> Self {
        Self(text)
    }

    /// By what it is known: `sha256:` and 64 hexadecimal digits.
    #[must_use]
    pub fn hash(&self) -> String {
        let hash = digest(&SHA256, self.0.expose_secret().as_bytes());
        format!("{ALGORITHM}{}", hex::encode(hash))
    }

    /// Whether it is one of those with these hashes.
    #[must_use]
    pub fn is_one_of(&self, hashes: &[String]) -> bool {
        let own = self.hash();
        let is_it =
            |hash: &String| verify_slices_are_equal(own.as_bytes(), hash.as_bytes()).is_ok();
        hashes.iter().any(is_it)
    }
}

impl ExposeSecret<str> for ClientSecret {
    fn expose_secret(&self) -> &str {
        self.0.expose_secret()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_known_by_its_hash_and_says_nothing_of_itself() {
        let [one, other] = [(); 2].map(|()| ClientSecret::random());
        assert!(one.expose_secret().starts_with(START) && one.expose_secret().len() == 47);
        assert!(one.is_one_of(&[other.hash(), one.hash()]));
        assert!(!one.is_one_of(&[other.hash()]) && !one.is_one_of(&[]));
        assert!(!format!("{one:?}").contains(one.expose_secret()));
    }

    /// Settings have hashes of this form.
    #[test]
    fn hashes_are_what_other_programs_make() {
        // printf %s abc | sha256sum
        let hash = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(ClientSecret::shown("abc".into()).hash(), hash);
    }
}
