//! Signing, the most expensive thing here: off the async threads, on as many threads as there are
//! cores, and refused at once when too much of it waits.

use std::sync::Arc;

use tokio::sync::Semaphore;
use vestibule_domain::{Place, RoomId};
use vestibule_store::TokenRecord;
use vestibule_token::{Claims, SigningKey, TokenUse};

/// How many requests may wait for a core, per core: about a second's worth of signing.
const WAITING_PER_CORE: usize = 2_000;

/// A bounded pool of signing threads.
#[derive(Debug, Clone)]
pub struct Signer {
    running: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
}

/// Whom a token is for.
#[derive(Debug, Clone, Copy)]
pub struct TokenFor<'a> {
    /// The room.
    pub room: &'a RoomId,
    /// The visitor's request id.
    pub request_id: &'a str,
    /// The visitor's place.
    pub place: Place,
}

/// Why nothing was signed.
#[derive(Debug, thiserror::Error)]
pub enum SignerError {
    /// Too much waits to be signed.
    #[error("too many tokens wait to be signed")]
    Overloaded,
    /// The library refused.
    #[error("signing failed: {0}")]
    Failed(String),
}

// === impl Signer ===

impl Signer {
    /// A pool for `cores` signatures at once.
    #[must_use]
    pub fn new(cores: usize) -> Self {
        Self {
            running: Arc::new(Semaphore::new(cores)),
            waiting: Arc::new(Semaphore::new(cores * WAITING_PER_CORE)),
        }
    }

    /// Signs one token for each of `uses`, in order. The same record gives the same tokens.
    ///
    /// # Errors
    /// [`SignerError::Overloaded`] at once when too much waits.
    pub async fn sign(
        &self,
        key: Arc<SigningKey>,
        whom: TokenFor<'_>,
        record: &TokenRecord,
        uses: &[TokenUse],
    ) -> Result<Vec<String>, SignerError> {
        let _place = self.waiting.try_acquire().map_err(|_| SignerError::Overloaded)?;
        let claims: Vec<_> = uses.iter().map(|token_use| whom.claims(record, *token_use)).collect();
        let running = Arc::clone(&self.running);
        let permit = running.acquire_owned().await.map_err(|_| SignerError::Overloaded)?;
        let signed = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            claims.iter().map(|claims| key.sign(claims)).collect::<Result<Vec<_>, _>>()
        });
        match signed.await {
            Ok(Ok(tokens)) => Ok(tokens),
            Ok(Err(error)) => Err(SignerError::Failed(error.to_string())),
            Err(error) => Err(SignerError::Failed(error.to_string())),
        }
    }
}

impl Default for Signer {
    fn default() -> Self {
        Self::new(std::thread::available_parallelism().map_or(1, std::num::NonZero::get))
    }
}

// === impl TokenFor ===

impl TokenFor<'_> {
    fn claims(&self, record: &TokenRecord, token_use: TokenUse) -> Claims {
        Claims {
            aud: self.room.to_string(),
            exp: record.expires_at,
            iat: record.issued_at,
            iss: record.issuer.clone(),
            nbf: record.issued_at,
            queue_position: self.place.number,
            sub: self.request_id.to_owned(),
            token_use,
        }
    }
}
