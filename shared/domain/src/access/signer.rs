//! Keys by which callers sign their requests instead of showing a token, as clients of AWS do. They are part of the same
//! set as the tokens: joined, revoked and remembered alike, and with names of their own.

use serde::{Deserialize, Serialize};

use super::{ApiTokens, MAX_API_TOKENS, Role, RoomScope, TakeError};

/// A key that was made by a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiSigner {
    /// The access key id, which is its name in lists and logs, too.
    pub key_id: String,
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
    /// The secret, and the session token, sealed under the deployment secret.
    pub sealed: String,
}

// === impl ApiSigner ===

impl ApiSigner {
    /// Whether it is no longer valid at `now`, unix seconds.
    #[must_use]
    pub fn is_over(&self, now: u64) -> bool {
        self.expires_at.is_some_and(|end| end <= now)
    }
}

// === impl ApiTokens ===

impl ApiTokens {
    /// Takes a new key in; `digest`: of what is sealed, which no other key has.
    ///
    /// # Errors
    /// If there is a key or a token of its name, expired or not, or too many.
    pub fn take_signer(&mut self, digest: String, signer: ApiSigner) -> Result<(), TakeError> {
        if self.has_name(&signer.key_id) {
            return Err(TakeError::NameTaken);
        }
        if self.signers.len() >= MAX_API_TOKENS {
            return Err(TakeError::TooMany);
        }
        self.signers.insert(digest, signer);
        Ok(())
    }

    /// Revokes the key of this id at `now`, unix seconds, and returns it; `None`: there is none.
    pub fn revoke_signer(&mut self, key_id: &str, now: u64) -> Option<ApiSigner> {
        let is_its = |_: &String, signer: &mut ApiSigner| signer.key_id == key_id;
        let revoked: Vec<_> = self.signers.extract_if(.., is_its).collect();
        self.note_revoked(revoked, now)
    }

    /// Whether a token or a key has this name.
    pub(super) fn has_name(&self, name: &str) -> bool {
        self.tokens.values().any(|token| token.name == name)
            || self.signers.values().any(|signer| signer.key_id == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::ApiToken;

    fn signer(key_id: &str) -> ApiSigner {
        ApiSigner {
            key_id: key_id.to_owned(),
            role: Role::Operator,
            rooms: RoomScope::default(),
            expires_at: None,
            created_at: 5,
            created_by: "root".to_owned(),
            sealed: format!("sealed of {key_id}"),
        }
    }

    fn set(key_ids: &[&str]) -> ApiTokens {
        let mut set = ApiTokens::default();
        for key_id in key_ids {
            set.take_signer(format!("digest of {key_id}"), signer(key_id)).unwrap();
        }
        set
    }

    #[test]
    fn tokens_and_keys_have_names_of_their_own() {
        let mut set = set(&["AKID"]);
        assert_eq!(set.take_signer("x".into(), signer("AKID")), Err(TakeError::NameTaken));
        let ApiSigner { role, rooms, created_by, .. } = signer("AKID");
        let token = ApiToken {
            name: "AKID".into(),
            role,
            rooms,
            expires_at: None,
            created_at: 5,
            created_by,
        };
        assert_eq!(set.take("y".into(), token.clone()), Err(TakeError::NameTaken));
        assert_eq!(set.revoke_signer("AKID", 9), Some(signer("AKID")));
        assert_eq!(set.revoke_signer("AKID", 9), None);
        assert_eq!(set.take("y".into(), token), Ok(()));
        assert_eq!(set.take_signer("x".into(), signer("AKID")), Err(TakeError::NameTaken));
    }

    #[test]
    fn keys_are_joined_and_revoked_as_tokens_are() {
        let before = set(&["AKID", "OTHER"]);
        let mut after = before.clone();
        after.revoke_signer("AKID", 100);
        for joined in [before.clone().join(&after), after.clone().join(&before)] {
            assert_eq!(joined, after);
        }
        assert!(after.knows_more_than(&before, 100) && !before.knows_more_than(&after, 100));
        assert!(before.knows_more_than(&ApiTokens::default(), 100), "lost, or left out");
    }

    /// A release from before there were keys reads the set, and leaves them out when it writes it.
    #[test]
    fn a_set_without_keys_is_as_it_was() {
        let text = serde_json::to_string(&ApiTokens::default()).unwrap();
        assert_eq!(text, r#"{"tokens":{},"revoked":{}}"#);
        let read: ApiTokens = serde_json::from_str(&text).unwrap();
        assert_eq!(read, ApiTokens::default());
    }

    #[test]
    fn there_is_a_most_and_an_end() {
        let mut set = ApiTokens::default();
        for number in 0..MAX_API_TOKENS {
            set.take_signer(number.to_string(), signer(&number.to_string())).unwrap();
        }
        assert_eq!(set.take_signer("x".into(), signer("x")), Err(TakeError::TooMany));
        let ends = ApiSigner { expires_at: Some(10), ..signer("x") };
        assert_eq!((ends.is_over(9), ends.is_over(10)), (false, true));
    }
}
