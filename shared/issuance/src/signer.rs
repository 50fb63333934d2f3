//! Signing, the most expensive work of a request: off the async threads, on as many threads as
//! there are cores, with an error at once when too many requests wait.
//!
//! The signing threads take the requests from their own queue. If an async thread handed out each
//! request, a claim would cost two more changes of threads, which takes tens of microseconds. Where many
//! wait, a thread hands back several tokens at once, so that the async threads wake up less often.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use vestibule_domain::Place;
use vestibule_store::TokenRecord;
use vestibule_token::{
    Claims, Confirmation, IdClaims, SigningKey, SigningKeyError, Thumbprint, TokenUse,
};

use crate::signed_tokens::SignedTokens;

/// How many requests may wait, per core: about a second's worth of signing.
const WAITING_PER_CORE: usize = 2_000;

/// Of as many places for requests there is one for an id token.
const OF_ID_TOKENS: usize = 20;

/// How many requests a thread answers together at most: they take about a millisecond.
const TOGETHER: usize = 4;

/// Signs tokens. Cloning is cheap.
#[derive(Debug, Clone)]
pub struct Signer(Way);

/// Makes the token of claims.
pub type Sign = fn(&SigningKey, &Claims) -> Result<String, SigningKeyError>;

#[derive(Debug, Clone)]
enum Way {
    /// Off the async threads.
    OnThreads(Arc<SigningThreads>),
    /// At once.
    AtOnce(Sign),
}

/// The process's signing threads, with a bound on what waits for them.
#[derive(Debug)]
struct SigningThreads {
    places: Arc<Semaphore>,
    id_places: Arc<Semaphore>,
    waiting: Mutex<VecDeque<Request>>,
    signed: SignedTokens,
}

/// Claims to be signed by one key for one caller.
#[derive(Debug)]
struct Request {
    key: Arc<SigningKey>,
    claims: Vec<Claims>,
    caller: oneshot::Sender<Signed>,
    _place: OwnedSemaphorePermit,
}

type Signed = Result<Vec<String>, SigningKeyError>;

/// The visitor that a token is for.
#[derive(Debug, Clone, Copy)]
pub struct TokenSubject<'a> {
    /// What the token calls the room.
    pub audience: &'a str,
    /// The visitor's request id.
    pub request_id: &'a str,
    /// The visitor's place.
    pub place: Place,
    /// The visitor's key, if its token is bound to it.
    pub key: Option<Thumbprint>,
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
        Self(Way::OnThreads(Arc::new(SigningThreads::new(waiting))))
    }

    /// A signer that calls `sign` without a thread, for simulations: their tokens need no signature.
    #[must_use]
    pub fn at_once(sign: Sign) -> Self {
        Self(Way::AtOnce(sign))
    }

    /// Signs one token for each of `uses`, in order. The same record gives the same tokens, and they are signed once as
    /// long as the process remembers them.
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
            Way::OnThreads(threads) => threads.sign(key, claims).await?,
        };
        signed.map_err(|error| SignerError::Failed(error.to_string()))
    }

    /// Signs an id token. None is remembered, since hardly two are the same.
    ///
    /// # Errors
    /// As [`Self::sign`].
    pub async fn sign_id(
        &self,
        key: Arc<SigningKey>,
        claims: IdClaims,
    ) -> Result<String, SignerError> {
        let signed = match &self.0 {
            Way::AtOnce(_) => key.sign_id(&claims),
            Way::OnThreads(threads) => threads.sign_id(key, claims).await?,
        };
        signed.map_err(|error| SignerError::Failed(error.to_string()))
    }
}

impl Default for Signer {
    fn default() -> Self {
        Self::new(rayon::current_num_threads() * WAITING_PER_CORE)
    }
}

// === impl SigningThreads ===

impl SigningThreads {
    fn new(waiting: usize) -> Self {
        let places = Arc::new(Semaphore::new(waiting));
        let id_places = Arc::new(Semaphore::new(waiting.div_ceil(OF_ID_TOKENS)));
        Self { places, id_places, waiting: Mutex::default(), signed: SignedTokens::default() }
    }

    async fn sign(
        self: &Arc<Self>,
        key: Arc<SigningKey>,
        claims: Vec<Claims>,
    ) -> Result<Signed, SignerError> {
        if let Some(tokens) = self.signed.get(key.kid(), &claims) {
            return Ok(Ok(tokens));
        }
        let signed = self.wait_for(Arc::clone(&key), claims.clone()).await?;
        if let Ok(tokens) = &signed {
            self.signed.keep(key.kid(), &claims, tokens);
        }
        Ok(signed)
    }

    async fn wait_for(
        self: &Arc<Self>,
        key: Arc<SigningKey>,
        claims: Vec<Claims>,
    ) -> Result<Signed, SignerError> {
        let place =
            Arc::clone(&self.places).try_acquire_owned().map_err(|_| SignerError::Overloaded)?;
        let (caller, signed) = oneshot::channel();
        self.waiting().push_back(Request { key, claims, caller, _place: place });
        let threads = Arc::clone(self);
        // As many jobs as requests: whoever comes after a job that took several finds fewer, or none.
        rayon::spawn(move || threads.answer_some());
        signed.await.map_err(|error| SignerError::Failed(error.to_string()))
    }

    /// Id tokens have few places of their own, so that whoever logs in again and again keeps no newcomer waiting.
    async fn sign_id(
        &self,
        key: Arc<SigningKey>,
        claims: IdClaims,
    ) -> Result<Result<String, SigningKeyError>, SignerError> {
        let place = Arc::clone(&self.id_places).try_acquire_owned();
        let place = place.map_err(|_| SignerError::Overloaded)?;
        let (caller, signed) = oneshot::channel();
        rayon::spawn(move || {
            let _ = caller.send(key.sign_id(&claims));
            drop(place);
        });
        signed.await.map_err(|error| SignerError::Failed(error.to_string()))
    }

    /// Answers the first that wait, and leaves enough for the other threads.
    fn answer_some(&self) {
        let some: Vec<_> = {
            let mut waiting = self.waiting();
            let fair = waiting.len().div_ceil(rayon::current_num_threads()).min(TOGETHER);
            waiting.drain(..fair).collect()
        };
        let signed: Vec<_> = some
            .into_iter()
            // If the caller has gone away, its client asks again.
            .filter(|request| !request.caller.is_closed())
            .map(|request| {
                let sign = |claims| request.key.sign(claims);
                (request.claims.iter().map(sign).collect(), request.caller)
            })
            .collect();
        for (signed, caller) in signed {
            let _ = caller.send(signed);
        }
    }

    fn waiting(&self) -> std::sync::MutexGuard<'_, VecDeque<Request>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// === impl TokenSubject ===

impl TokenSubject<'_> {
    fn claims(&self, record: &TokenRecord, token_use: TokenUse) -> Claims {
        Claims {
            aud: self.audience.to_owned(),
            cnf: self.key.map(|key| Confirmation { jkt: key.to_string() }),
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

#[cfg(test)]
mod tests {
    use vestibule_token::KeyAlgorithm;

    use super::*;

    fn claims(number: u64) -> Claims {
        Claims {
            aud: "sale".to_owned(),
            cnf: None,
            exp: 2_000,
            iat: 1_000,
            iss: "https://wait.example".to_owned(),
            nbf: 1_000,
            queue_position: number,
            sub: number.to_string(),
            token_use: TokenUse::Access,
        }
    }

    #[test]
    fn a_thread_answers_a_few_of_many_each_with_its_own_token() {
        let key = Arc::new(SigningKey::generate(KeyAlgorithm::Rs256).unwrap());
        let many = rayon::current_num_threads() * TOGETHER + 1;
        let threads = SigningThreads::new(many);
        let places = Arc::clone(&threads.places);
        let wait = |number: usize| {
            let (caller, signed) = oneshot::channel();
            let place = Arc::clone(&places).try_acquire_owned().unwrap();
            let (key, claims) = (Arc::clone(&key), vec![claims(number as u64)]);
            threads.waiting().push_back(Request { key, claims, caller, _place: place });
            signed
        };
        let mut callers: Vec<_> = (0..many).map(|number| Some(wait(number))).collect();
        callers[1] = None;
        threads.answer_some();
        for (number, caller) in callers.iter_mut().enumerate() {
            let Some(caller) = caller else { continue };
            let signed = caller.try_recv().ok().map(|signed| signed.unwrap());
            let own = (number < TOGETHER).then(|| vec![key.sign(&claims(number as u64)).unwrap()]);
            assert_eq!(signed, own, "{number}");
        }
        assert_eq!(places.available_permits(), TOGETHER, "also that of the caller who has gone");
        for _ in 0..many {
            threads.answer_some();
        }
        assert!(threads.waiting().is_empty());
        assert_eq!(places.available_permits(), many);
    }

    /// A signer with no place left refuses what it would have to sign.
    #[tokio::test]
    async fn what_was_signed_once_is_not_signed_again() {
        let threads = Arc::new(SigningThreads::new(1));
        let [key, other] =
            [(); 2].map(|()| Arc::new(SigningKey::generate(KeyAlgorithm::Rs256).unwrap()));
        let sign = async |key, numbers: &[u64]| {
            threads.sign(Arc::clone(key), numbers.iter().copied().map(claims).collect()).await
        };
        let first = sign(&key, &[1, 2]).await.unwrap().unwrap();
        let _place = threads.places.acquire().await.unwrap();
        assert_eq!(sign(&key, &[1, 2]).await.unwrap().unwrap(), first);
        assert_eq!(sign(&key, &[2]).await.unwrap().unwrap(), first[1..]);
        for (key, numbers) in [(&key, &[1, 3]), (&other, &[1, 2])] {
            let signed = sign(key, numbers).await;
            assert!(matches!(signed, Err(SignerError::Overloaded)), "{numbers:?}");
        }
    }
}
