//! Tokens that have been signed: the same claims under the same key have the same token, so it is signed once, however
//! often its holder asks. A signature costs as much processor time as some hundred other answers, and whoever is inside
//! could have one for each call.
//!
//! Bounded: what is asked for least often is forgotten, and signed anew.

use std::fmt;

use quick_cache::sync::Cache;
use vestibule_token::Claims;

/// So many tokens are kept, about 1.5 KB each.
const KEPT: usize = 16_384;

/// What has been signed by this process.
pub(crate) struct SignedTokens(Cache<Signable, String>);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Signable {
    key_id: String,
    claims: Claims,
}

// === impl SignedTokens ===

impl SignedTokens {
    /// The tokens of all of `claims` under the key `key_id`; none if one of them has not been signed yet.
    pub(crate) fn get(&self, key_id: &str, claims: &[Claims]) -> Option<Vec<String>> {
        claims.iter().map(|claims| self.0.get(&Signable::new(key_id, claims))).collect()
    }

    /// Keeps the `tokens` of `claims`.
    pub(crate) fn keep(&self, key_id: &str, claims: &[Claims], tokens: &[String]) {
        for (claims, token) in claims.iter().zip(tokens) {
            self.0.insert(Signable::new(key_id, claims), token.clone());
        }
    }
}

impl Default for SignedTokens {
    fn default() -> Self {
        Self(Cache::new(KEPT))
    }
}

/// Without the tokens, which open gateways.
impl fmt::Debug for SignedTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SignedTokens").field(&self.0.len()).finish()
    }
}

// === impl Signable ===

impl Signable {
    fn new(key_id: &str, claims: &Claims) -> Self {
        Self { key_id: key_id.to_owned(), claims: claims.clone() }
    }
}
