//! What newcomers of a room show before they get a place: the solution of a puzzle ([`Puzzle`]), or a pass
//! that an operator has made. Both are told by nothing but themselves: the services keep no list of what they
//! handed out. What was used is remembered elsewhere, under its [`Mark`].
//!
//! Puzzles have ALTCHA's open format: find the number which, written behind the salt, has this SHA-256. The
//! salt says until when, and ends with `&`, so that no digit of the number can be taken for one of the time.
//! Who may set a puzzle is proven by an HMAC under a key of the room; resets do not change it, so that a page
//! which computes meanwhile has not done so in vain.
//!
//! Checking takes two hashes for each secret: a few microseconds.

mod pass;
mod puzzle;
mod solution;
#[cfg(test)]
mod tests;

use aws_lc_rs::{
    digest::{SHA256, digest},
    hmac::{self, HMAC_SHA256},
};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::Serialize;
use thiserror::Error;
use vestibule_domain::RoomId;

use crate::{DeploymentSecret, secret::Derived};

/// The longest text that is read, in bytes.
const LONGEST: usize = 1024;

/// Makes and checks the puzzles and passes of one room.
pub struct RoomChallenges {
    puzzles: Derived<hmac::Key>,
    passes: Derived<hmac::Key>,
}

/// A puzzle, as ALTCHA's clients read it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Puzzle {
    /// How to hash: `SHA-256`.
    pub algorithm: &'static str,
    /// The hash of the salt and the number behind it, in hex.
    pub challenge: String,
    /// The largest that the number can be.
    #[serde(rename = "maxnumber")]
    pub max_number: u32,
    /// What stands before the number; `expires` in it is a time, unix seconds.
    pub salt: String,
    /// Who has set it, in hex.
    pub signature: String,
}

/// What newcomers have shown that is genuine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shown {
    /// The solution of a puzzle: for one place.
    Solution(Mark),
    /// A pass, for one place if it has a mark, else for any number of them.
    Pass(Option<Mark>),
}

/// By what it is remembered that something was used: 64 bits of its hash.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Mark {
    /// 11 characters of base64url.
    pub name: String,
    /// For how long it has to be remembered, unix seconds.
    pub expires_at: u64,
}

/// Why what was shown does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ChallengeError {
    /// Not of the form of a solution or a pass.
    #[error("it is neither a solution nor a pass")]
    Malformed,
    /// Not of a puzzle or a pass of this room, or altered.
    #[error("it is not of this room")]
    Foreign,
    /// Another number than the one that was asked for.
    #[error("it does not solve the puzzle")]
    Wrong,
    /// Its time is over.
    #[error("it has expired")]
    Expired,
}

// === impl RoomChallenges ===

impl RoomChallenges {
    /// Those of `room`.
    #[must_use]
    pub fn new(secret: &DeploymentSecret, room: &RoomId) -> Self {
        let keys = |purpose: &str| {
            secret.derive_each::<32, _>(purpose, &[room.as_str().as_bytes()], |key| {
                hmac::Key::new(HMAC_SHA256, key.as_slice())
            })
        };
        Self { puzzles: keys("puzzle"), passes: keys("pass") }
    }

    /// What `text`, the solution of a puzzle or a pass, is worth at `now`, unix seconds.
    ///
    /// # Errors
    /// [`ChallengeError`] says why it is worth nothing.
    pub fn check(&self, text: &str, now: u64) -> Result<Shown, ChallengeError> {
        if text.len() > LONGEST {
            return Err(ChallengeError::Malformed);
        }
        match text.strip_prefix(pass::START) {
            Some(rest) => pass::check(&self.passes, rest, now).map(Shown::Pass),
            None => solution::check(&self.puzzles, text, now).map(Shown::Solution),
        }
    }
}

impl std::fmt::Debug for RoomChallenges {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RoomChallenges([REDACTED])")
    }
}

// === impl Mark ===

impl Mark {
    /// That of `text`, until then.
    #[must_use]
    pub fn of(text: &str, expires_at: u64) -> Self {
        let hash = digest(&SHA256, text.as_bytes());
        Self { name: URL_SAFE_NO_PAD.encode(&hash.as_ref()[..8]), expires_at }
    }
}

/// Whether `signature` was made of `text` by one of the keys.
fn is_signed(keys: &Derived<hmac::Key>, text: &str, signature: &[u8]) -> bool {
    keys.find(|key| hmac::verify(key, text.as_bytes(), signature).ok()).is_some()
}
