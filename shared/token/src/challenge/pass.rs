//! Passes: for kiosks and tests, which solve nothing. `pass.EXPIRES.KIND.NONCE.SIGNATURE`; whoever has one
//! gets as many places as its kind allows, until it expires.

use aws_lc_rs::hmac;
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use rand::Rng;

use super::{ChallengeError, Mark, RoomChallenges, is_signed};
use crate::secret::Derived;

/// What every pass begins with, and no solution.
pub(super) const START: &str = "pass.";
/// Kinds: for one place, and for any number of them.
const ONCE: &str = "once";
const MANY: &str = "many";

// === impl RoomChallenges ===

impl RoomChallenges {
    /// A pass that is valid until `expires_at`, unix seconds: for one place if it `is_single_use`.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "passes for one place differ")]
    pub fn pass(&self, expires_at: u64, is_single_use: bool) -> String {
        let nonce: [u8; 9] = rand::rng().random();
        let kind = if is_single_use { ONCE } else { MANY };
        let said = format!("{expires_at}.{kind}.{}", URL_SAFE_NO_PAD.encode(nonce));
        let signature = hmac::sign(self.passes.current(), said.as_bytes());
        format!("{START}{said}.{}", URL_SAFE_NO_PAD.encode(signature))
    }
}

/// `text`: what follows [`START`]. The mark of a pass for one place.
pub(super) fn check(
    keys: &Derived<hmac::Key>,
    text: &str,
    now: u64,
) -> Result<Option<Mark>, ChallengeError> {
    let (said, signature) = text.rsplit_once('.').ok_or(ChallengeError::Malformed)?;
    let signature = URL_SAFE_NO_PAD.decode(signature).map_err(|_| ChallengeError::Malformed)?;
    if !is_signed(keys, said, &signature) {
        return Err(ChallengeError::Foreign);
    }
    let mut parts = said.split('.');
    let expires_at = parts.next().and_then(|text| text.parse().ok());
    let expires_at: u64 = expires_at.ok_or(ChallengeError::Malformed)?;
    if expires_at <= now {
        return Err(ChallengeError::Expired);
    }
    match parts.next() {
        Some(ONCE) => Ok(Some(Mark::of(said, expires_at))),
        Some(MANY) => Ok(None),
        _ => Err(ChallengeError::Malformed),
    }
}
