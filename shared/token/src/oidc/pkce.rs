//! PKCE (RFC 7636), by SHA-256 only: `plain` protects nobody whose addresses are read.

use aws_lc_rs::{
    constant_time::verify_slices_are_equal,
    digest::{SHA256, digest},
};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};

/// The hash of a verifier that only whoever asked for the code knows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CodeChallenge(String);

// === impl CodeChallenge ===

impl CodeChallenge {
    /// The challenge `text`, a SHA-256 in base64url; `None`: it is none.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let hash = URL_SAFE_NO_PAD.decode(text).ok()?;
        (hash.len() == SHA256.output_len()).then(|| Self(text.to_owned()))
    }

    /// Whether `verifier` answers it.
    #[must_use]
    pub fn is_answered_by(&self, verifier: &str) -> bool {
        let letter = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        let hash = URL_SAFE_NO_PAD.encode(digest(&SHA256, verifier.as_bytes()));
        (43..=128).contains(&verifier.len())
            && verifier.bytes().all(letter)
            && verify_slices_are_equal(hash.as_bytes(), self.0.as_bytes()).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 7636, appendix B.
    const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
    const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

    #[test]
    fn the_example_of_the_standard_is_answered_by_its_verifier_alone() {
        let challenge = CodeChallenge::parse(CHALLENGE).unwrap();
        assert!(challenge.is_answered_by(VERIFIER));
        for wrong in ["", CHALLENGE, &VERIFIER[1..], &format!("{VERIFIER} ")] {
            assert!(!challenge.is_answered_by(wrong), "{wrong}");
        }
    }

    #[test]
    fn verifiers_that_the_standard_does_not_allow_answer_nothing() {
        for verifier in ["a".repeat(42), "a".repeat(129), "+".repeat(43)] {
            let hash = URL_SAFE_NO_PAD.encode(digest(&SHA256, verifier.as_bytes()));
            assert!(!CodeChallenge::parse(&hash).unwrap().is_answered_by(&verifier));
        }
    }

    #[test]
    fn only_a_hash_is_a_challenge() {
        for wrong in ["", "abc", VERIFIER.get(..42).unwrap(), &format!("{CHALLENGE}=")] {
            assert_eq!(CodeChallenge::parse(wrong), None, "{wrong}");
        }
    }
}
