//! The tokens that were made by calls, and those that were revoked: what Redis has, and what every controller
//! remembers of it.
//!
//! Two states of it are *joined*: what either has is there, but for what either has revoked. So a Redis that went back
//! to an older state, or has lost it, brings no revoked token back, and no token is lost that a controller remembers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{ApiSigner, Role, RoomScope};

/// The most tokens of a deployment.
pub const MAX_API_TOKENS: usize = 500;

/// For how long it is remembered that a token was revoked, in seconds: as long as a Redis that comes back may have
/// been away, and as deletions of rooms are remembered.
const REVOKED_FOR: u64 = 31 * 24 * 60 * 60;

/// A token that was made by a call. The token itself is not here, nor anywhere else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiToken {
    /// Its name, by which it is known in lists and logs.
    pub name: String,
    /// What it may do.
    pub role: Role,
    /// In which rooms.
    #[serde(default)]
    pub rooms: RoomScope,
    /// From when it is no longer valid, unix seconds.
    #[serde(default)]
    pub expires_at: Option<u64>,
    /// When it was made, unix seconds.
    pub created_at: u64,
    /// The name of the token by which it was made.
    pub created_by: String,
}

/// The tokens that were made by calls.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiTokens {
    /// By the hex SHA-256 of each.
    pub tokens: BTreeMap<String, ApiToken>,
    /// The same of those that were revoked, and when, unix seconds.
    pub revoked: BTreeMap<String, u64>,
    /// The keys by which requests are signed, each by the hex SHA-256 of what was sealed first. A release from before
    /// there were any leaves them out; then whoever knows them puts them back.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub signers: BTreeMap<String, ApiSigner>,
}

/// Why a token cannot be taken in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TakeError {
    /// There is one of this name.
    #[error("there is a token or a key of this name")]
    NameTaken,
    /// There are as many as there may be.
    #[error("there are {MAX_API_TOKENS} of them already: revoke those that nobody needs")]
    TooMany,
}

// === impl ApiToken ===

impl ApiToken {
    /// Whether it is no longer valid at `now`, unix seconds.
    #[must_use]
    pub fn is_over(&self, now: u64) -> bool {
        self.expires_at.is_some_and(|end| end <= now)
    }
}

// === impl ApiTokens ===

impl ApiTokens {
    /// Takes a new token in.
    ///
    /// # Errors
    /// If there is one of its name, expired or not, or too many.
    pub fn take(&mut self, digest: String, token: ApiToken) -> Result<(), TakeError> {
        if self.has_name(&token.name) {
            return Err(TakeError::NameTaken);
        }
        if self.tokens.len() >= MAX_API_TOKENS {
            return Err(TakeError::TooMany);
        }
        self.tokens.insert(digest, token);
        Ok(())
    }

    /// Revokes the token of this name at `now`, unix seconds, and returns it; `None`: there is none.
    pub fn revoke(&mut self, name: &str, now: u64) -> Option<ApiToken> {
        let is_its = |_: &String, token: &mut ApiToken| token.name == name;
        let revoked: Vec<_> = self.tokens.extract_if(.., is_its).collect();
        self.note_revoked(revoked, now)
    }

    /// Remembers who was taken out; returns one of them. Two of one name, of two sides of a split, go together.
    pub(super) fn note_revoked<T>(&mut self, taken_out: Vec<(String, T)>, now: u64) -> Option<T> {
        self.revoked.retain(|_, at| *at + REVOKED_FOR > now);
        self.revoked.extend(taken_out.iter().map(|(digest, _)| (digest.clone(), now)));
        taken_out.into_iter().next_back().map(|(_, one)| one)
    }

    /// Both states in one.
    #[must_use]
    pub fn join(mut self, other: &Self) -> Self {
        self.revoked.extend(other.revoked.iter().map(|(digest, at)| (digest.clone(), *at)));
        self.tokens
            .extend(other.tokens.iter().map(|(digest, token)| (digest.clone(), token.clone())));
        self.signers
            .extend(other.signers.iter().map(|(digest, signer)| (digest.clone(), signer.clone())));
        let revoked = &self.revoked;
        self.tokens.retain(|digest, _| !revoked.contains_key(digest));
        self.signers.retain(|digest, _| !revoked.contains_key(digest));
        self
    }

    /// Whether it has something that `other` lacks, and that still matters at `now`, unix seconds.
    #[must_use]
    pub fn knows_more_than(&self, other: &Self, now: u64) -> bool {
        let token = |digest: &String| {
            !other.tokens.contains_key(digest) && !other.revoked.contains_key(digest)
        };
        let signer = |digest: &String| {
            !other.signers.contains_key(digest) && !other.revoked.contains_key(digest)
        };
        let is_news = |digest: &String, at: u64| {
            at + REVOKED_FOR > now && !other.revoked.contains_key(digest)
        };
        self.tokens.keys().any(token)
            || self.signers.keys().any(signer)
            || self.revoked.iter().any(|(digest, at)| is_news(digest, *at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(name: &str) -> ApiToken {
        ApiToken {
            name: name.to_owned(),
            role: Role::Viewer,
            rooms: RoomScope::default(),
            expires_at: None,
            created_at: 5,
            created_by: "root".to_owned(),
        }
    }

    fn set(names: &[&str]) -> ApiTokens {
        let mut set = ApiTokens::default();
        for name in names {
            set.take(format!("digest of {name}"), token(name)).unwrap();
        }
        set
    }

    fn names(set: &ApiTokens) -> Vec<&str> {
        set.tokens.values().map(|token| token.name.as_str()).collect()
    }

    #[test]
    fn a_name_is_given_once_until_it_is_revoked() {
        let mut set = set(&["ci", "grafana"]);
        assert_eq!(set.take("x".into(), token("ci")), Err(TakeError::NameTaken));
        assert_eq!(set.revoke("ci", 9), Some(token("ci")));
        assert_eq!(set.revoke("ci", 9), None);
        assert_eq!(set.take("x".into(), token("ci")), Ok(()));
    }

    #[test]
    fn there_is_a_most() {
        let mut set = ApiTokens::default();
        for number in 0..MAX_API_TOKENS {
            set.take(number.to_string(), token(&number.to_string())).unwrap();
        }
        assert_eq!(set.take("x".into(), token("x")), Err(TakeError::TooMany));
    }

    #[test]
    fn what_either_has_is_kept_and_what_either_has_revoked_is_not() {
        let before = set(&["ci", "grafana"]);
        let mut after = before.clone();
        after.revoke("ci", 100);
        after.take("new".into(), token("new")).unwrap();
        for joined in [before.clone().join(&after), after.clone().join(&before)] {
            assert_eq!(joined, after);
            assert_eq!(names(&joined), ["grafana", "new"]);
        }
        assert!(after.knows_more_than(&before, 100) && !before.knows_more_than(&after, 100));
        let lost = ApiTokens::default();
        assert_eq!(lost.clone().join(&after), after);
        assert!(after.knows_more_than(&lost, 100) && !lost.knows_more_than(&lost, 100));
    }

    #[test]
    fn in_the_end_it_is_forgotten_that_a_token_was_revoked() {
        let mut set = set(&["ci", "grafana"]);
        set.revoke("ci", 100);
        assert!(!ApiTokens::default().knows_more_than(&set, 100));
        set.tokens.clear();
        assert!(set.knows_more_than(&ApiTokens::default(), 100));
        assert!(!set.knows_more_than(&ApiTokens::default(), 100 + REVOKED_FOR));
        set.revoke("nobody", 100 + REVOKED_FOR);
        assert!(set.revoked.is_empty());
    }

    #[test]
    fn a_token_is_over_from_its_end_on() {
        let ends = ApiToken { expires_at: Some(10), ..token("ci") };
        assert_eq!((ends.is_over(9), ends.is_over(10)), (false, true));
        assert!(!token("ci").is_over(u64::MAX));
    }
}
