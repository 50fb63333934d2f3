//! Signing, the most expensive work of a request: off the async threads, on as many threads as
//! there are cores, with an error at once when too many requests wait.
//!
//! The signing threads take the requests from their own queue. If an async thread handed out each
//! request, a claim would cost two more changes of threads, which takes tens of microseconds.

use std::sync::Arc;

use tokio::sync::{Semaphore, oneshot};
use vestibule_domain::{Place, RoomId};
use vestibule_store::TokenRecord;
use vestibule_token::{Claims, SigningKey, SigningKeyError, TokenUse};

/// How many requests may wait, per core: about a second's worth of signing.
const WAITING_PER_CORE: usize = 2_000;

/// Signs tokens. Cloning is cheap.
#[derive(Debug, Clone)]
pub struct Signer(Way);

/// Makes the token of claims.
pub type Sign = fn(&SigningKey, &Claims) -> Result<String, SigningKeyError>;

#[derive(Debug, Clone)]
enum Way {
    /// On the process's signing threads, with a bound on what waits for them.
    OnThreads(Arc<Semaphore>),
    /// At once.
    AtOnce(Sign),
}

/// The visitor that a token is for.
#[derive(Debug, Clone, Copy)]
pub struct TokenSubject<'a> {
    /// The room.
    pub room: &'a RoomId,
    /// The visitor's request id.
    pub request_id: &'a str,
    /// The visitor's place.
    pub place: Place,
}

/// Why no token was signed.
#[derive(Debug, thiserror::Error)]
pub enum SignerError {
    /// Too many requests wait.
    #[error("too many tokens wait to be signed")]
    Overloaded,
    /// The library refused.
    #[error("signing failed: {0}")]
    Failed(String),
}

// === impl Signer ===

impl Signer {
    /// A signer for which at most `waiting` requests wait at a time.
    #[must_use]
    pub fn new(waiting: usize) -> Self {
        Self(Way::OnThreads(Arc::new(Semaphore::new(waiting))))
    }

    /// A signer that calls `sign` without a thread, for simulations: their tokens need no signature.
    #[must_use]
    pub fn at_once(sign: Sign) -> Self {
        Self(Way::AtOnce(sign))
    }

    /// Signs one token for each of `uses`, in order. The same record gives the same tokens.
    ///
    /// # Errors
    /// [`SignerError::Overloaded`], at once, when too many requests wait.
    pub async fn sign(
        &self,
        key: Arc<SigningKey>,
        subject: TokenSubject<'_>,
        record: &TokenRecord,
        uses: &[TokenUse],
    ) -> Result<Vec<String>, SignerError> {
        let claims: Vec<_> =
            uses.iter().map(|token_use| subject.claims(record, *token_use)).collect();
        let signed = match &self.0 {
            Way::AtOnce(sign) => claims.iter().map(|claims| sign(&key, claims)).collect(),
            Way::OnThreads(waiting) => on_threads(waiting, key, claims).await?,
        };
        signed.map_err(|error| SignerError::Failed(error.to_string()))
    }
}

impl Default for Signer {
    fn default() -> Self {
        Self::new(rayon::current_num_threads() * WAITING_PER_CORE)
    }
}

async fn on_threads(
    waiting: &Arc<Semaphore>,
    key: Arc<SigningKey>,
    claims: Vec<Claims>,
) -> Result<Result<Vec<String>, SigningKeyError>, SignerError> {
    let waiting = Arc::clone(waiting);
    let place = waiting.try_acquire_owned().map_err(|_| SignerError::Overloaded)?;
    let (sender, receiver) = oneshot::channel();
    rayon::spawn(move || {
        let _place = place;
        if sender.is_closed() {
            return; // The caller has gone away. Its client asks again.
        }
        let signed = claims.iter().map(|claims| key.sign(claims)).collect::<Result<Vec<_>, _>>();
        let _ = sender.send(signed);
    });
    receiver.await.map_err(|error| SignerError::Failed(error.to_string()))
}

// === impl TokenSubject ===

impl TokenSubject<'_> {
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
