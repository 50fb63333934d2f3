//! The tokens that callers show, and the keys that they sign requests with: those of options, and those that were made by calls, which are in Redis, as hashes
//! and sealed, and in this instance's memory. What a caller may do is in [`crate::access`], and how guessing is made slow in
//! [`crate::guesses`].
//!
//! The set in Redis is read twice a second, so a token that was revoked works nowhere any more within a second. What
//! Redis has lost of it, or what an older state lacks to which it has gone back, is put back.

mod given;
mod given_signer;
mod signers;

use std::{
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use secrecy::SecretString;
use subtle::ConstantTimeEq;
use tokio::{
    sync::Mutex,
    time::{Instant, sleep},
};
use vestibule_domain::access::{self, ApiToken, ApiTokens, TakeError};
use vestibule_runtime::Random;
use vestibule_store::{Store, StoreError};
use vestibule_token::{DeploymentSecret, SealedKeyError};

use self::signers::{Opened, open_all};
pub(crate) use self::{
    given::{GivenToken, GivenTokenError, MIN_TOKEN_BYTES, check_name},
    given_signer::{GivenSigner, GivenSignerError, check_secret},
    signers::FoundSigners,
};
use crate::access::Caller;

/// How often the set is read.
const LOOK_EVERY: Duration = Duration::from_millis(400);

/// Between two looks for a token that is not known yet: others may show any number of them.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// How often a change is tried when those of other controllers come in between.
const ATTEMPTS: usize = 10;

/// The tokens of the deployment, as this instance knows them.
#[derive(Debug)]
pub(crate) struct Tokens {
    given: Vec<GivenToken>,
    given_signers: Vec<GivenSigner>,
    secret: Arc<DeploymentSecret>,
    store: Store,
    random: Random,
    known: RwLock<Arc<Known>>,
    last_look: Mutex<Option<Instant>>,
    /// Held by whoever changes the set here, so that those who come together do not take each other's attempts.
    changing: Mutex<()>,
}

/// What was read last.
#[derive(Debug, Default)]
struct Known {
    /// It was read at all.
    is_read: bool,
    /// The set in Redis, as it is there.
    text: Option<String>,
    set: ApiTokens,
    /// Its keys, opened.
    opened: Vec<Opened>,
    /// The deployment's time when it was read, unix ms, if some token ends at some time.
    read_at: Option<(u64, Instant)>,
}

/// Whose a token is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Found {
    /// Its caller.
    Caller(Caller),
    /// Nobody's.
    Wrong,
    /// It may be somebody's: this instance has not read the tokens yet.
    NotYet,
}

/// Why tokens cannot be changed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TokenError {
    /// Redis did not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// It cannot be taken in.
    #[error(transparent)]
    Take(#[from] TakeError),
    /// An option has the token of this name.
    #[error("an option of the controllers gives the token or the key of this name")]
    Given,
    /// There is none of this name.
    #[error("there is none of this name")]
    Unknown,
    /// Others keep changing them.
    #[error("others keep changing the tokens")]
    Busy,
    /// A key cannot be sealed.
    #[error(transparent)]
    Sealing(SealedKeyError),
    /// What is in Redis cannot be read.
    #[error("the tokens in redis cannot be read")]
    Text(#[source] serde_json::Error),
}

// === impl Tokens ===

impl Tokens {
    /// The tokens of options; those in `store` are known after the first look.
    pub(crate) fn new(
        (given, given_signers): (Vec<GivenToken>, Vec<GivenSigner>),
        secret: Arc<DeploymentSecret>,
        store: Store,
        random: Random,
    ) -> Self {
        let (known, last_look, changing) = (RwLock::default(), Mutex::default(), Mutex::default());
        Self { given, given_signers, secret, store, random, known, last_look, changing }
    }

    /// Whose token `text` is. One that others have just made is looked for in Redis.
    pub(crate) async fn find(&self, text: &str) -> Found {
        let digest = access::digest(text);
        if let Some(caller) = self.caller(&digest) {
            return Found::Caller(caller);
        }
        if !access::is_well_formed(text) {
            return Found::Wrong;
        }
        self.look_for_new_ones().await;
        match self.caller(&digest) {
            Some(caller) => Found::Caller(caller),
            None if self.known().is_read => Found::Wrong,
            None => Found::NotYet,
        }
    }

    /// Those of options, by name.
    pub(crate) fn given(&self) -> impl Iterator<Item = &Caller> {
        self.given.iter().map(|given| &given.caller)
    }

    /// Those that were made by calls, as Redis has them this moment.
    ///
    /// # Errors
    /// If they cannot be read.
    pub(crate) async fn made(&self) -> Result<Vec<ApiToken>, TokenError> {
        self.look().await?;
        let mut tokens: Vec<_> = self.known().set.tokens.values().cloned().collect();
        tokens.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(tokens)
    }

    /// Of those that were made by calls, tokens and keys, and end at some time, which is still to come: their names, and
    /// when, unix seconds. As this instance knows them.
    pub(crate) fn ends(&self) -> Vec<(String, u64)> {
        self.lives().into_iter().map(|(name, _, end)| (name, end)).collect()
    }

    /// The same, with when each was made: name, then, end, in unix seconds.
    pub(crate) fn lives(&self) -> Vec<(String, u64, u64)> {
        let known = self.known();
        let tokens = known.set.tokens.values();
        let tokens = tokens.map(|token| (&token.name, token.created_at, token.expires_at));
        let signers = known.set.signers.values();
        let signers = signers.map(|key| (&key.key_id, key.created_at, key.expires_at));
        let lives = tokens.chain(signers);
        let lives = lives.filter_map(|(name, made, end)| Some((name.clone(), made, end?)));
        lives.filter(|(_, _, end)| known.now() < *end).collect()
    }

    /// Makes a token, and returns it: it is nowhere else.
    ///
    /// # Errors
    /// If its name is taken, or there are too many.
    pub(crate) async fn create(&self, token: &ApiToken) -> Result<SecretString, TokenError> {
        self.refuse_given(&token.name)?;
        let text = access::make(std::array::from_fn(|_| self.random.number()));
        let digest = access::digest(&text);
        self.change(|set| Ok(set.take(digest.clone(), token.clone())?)).await?;
        Ok(text.into())
    }

    /// Revokes the token of this name at `now`, unix seconds; `note` is told of it before.
    ///
    /// # Errors
    /// If there is none, or only an option has it.
    pub(crate) async fn revoke(
        &self,
        name: &str,
        now: u64,
        note: impl Fn(&ApiToken),
    ) -> Result<(), TokenError> {
        let revoke = |set: &mut ApiTokens| set.revoke(name, now).ok_or_else(|| self.no_made(name));
        self.change(|set| revoke(set).map(|revoked| note(&revoked))).await
    }

    /// Keeps them fresh until it is dropped.
    pub(crate) async fn run(&self) {
        loop {
            if let Err(error) = self.look().await {
                tracing::debug!(%error, "the tokens could not be read");
            }
            if let Err(error) = self.reseal_signers().await {
                tracing::debug!(%error, "the keys for signed requests could not be sealed anew");
            }
            sleep(LOOK_EVERY).await;
        }
    }

    /// Reads the set once, and puts back what Redis has lost of it.
    async fn look(&self) -> Result<(), TokenError> {
        let text = self.store.api_tokens().await?;
        let known = self.known();
        if known.is_read && text == known.text {
            return Ok(());
        }
        let theirs = read(text.as_deref())?;
        let mended = self.sealed_as_known(theirs.clone());
        let is_sealed_as_before = mended == theirs;
        let joined = known.set.clone().join(&mended);
        // Where it lacks nothing, whatever time it is, the time need not be known.
        if !is_sealed_as_before || known.set.knows_more_than(&theirs, 0) {
            let now = self.store.now_ms().await? / 1000;
            if !is_sealed_as_before || known.set.knows_more_than(&theirs, now) {
                let whole = write(&joined)?;
                // If another controller has changed it meanwhile, the next look sees to it.
                if self.store.replace_api_tokens(text.as_deref(), &whole).await? {
                    tracing::warn!("redis had lost some of the tokens: they are whole again");
                    return self.take_in(Some(whole), joined).await;
                }
                return Ok(());
            }
        }
        self.take_in(text, joined).await
    }

    async fn look_for_new_ones(&self) {
        let mut last = self.last_look.lock().await;
        if last.is_some_and(|last| last.elapsed() < LOOK_AGAIN) {
            return;
        }
        if let Err(error) = self.look().await {
            tracing::debug!(%error, "the tokens could not be read");
        }
        *last = Some(Instant::now());
    }

    async fn change<T>(
        &self,
        mut change: impl FnMut(&mut ApiTokens) -> Result<T, TokenError>,
    ) -> Result<T, TokenError> {
        let _turn = self.changing.lock().await;
        for _ in 0..ATTEMPTS {
            let text = self.store.api_tokens().await?;
            let theirs = self.sealed_as_known(read(text.as_deref())?);
            let mut set = self.known().set.clone().join(&theirs);
            let changed = change(&mut set)?;
            let new = write(&set)?;
            if self.replace(text.as_deref(), &new).await? {
                self.take_in(Some(new), set).await?;
                return Ok(changed);
            }
        }
        Err(TokenError::Busy)
    }

    /// Asks once more where there was no answer: it may have been replaced, and a token is told once.
    async fn replace(&self, read: Option<&str>, text: &str) -> Result<bool, StoreError> {
        match self.store.replace_api_tokens(read, text).await {
            Err(_) => self.store.replace_api_tokens(read, text).await,
            replaced => replaced,
        }
    }

    async fn take_in(&self, text: Option<String>, set: ApiTokens) -> Result<(), TokenError> {
        let ends = set.tokens.values().any(|token| token.expires_at.is_some())
            || set.signers.values().any(|signer| signer.expires_at.is_some());
        let read_at = if ends { Some((self.store.now_ms().await?, Instant::now())) } else { None };
        let opened = open_all(&set, &self.secret);
        let known = Arc::new(Known { is_read: true, text, set, opened, read_at });
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = known;
        Ok(())
    }

    fn refuse_given(&self, name: &str) -> Result<(), TokenError> {
        let mut given = self.given().chain(self.given_signers());
        let is_given = given.any(|caller| &*caller.name == name);
        if is_given { Err(TokenError::Given) } else { Ok(()) }
    }

    /// Why none of this name can be revoked, where none was made.
    fn no_made(&self, name: &str) -> TokenError {
        self.refuse_given(name).err().unwrap_or(TokenError::Unknown)
    }

    fn known(&self) -> Arc<Known> {
        Arc::clone(&self.known.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whose token has this hash. Takes as long whichever it is.
    fn caller(&self, digest: &str) -> Option<Caller> {
        let same = |other: &str| bool::from(other.as_bytes().ct_eq(digest.as_bytes()));
        let mut found = None;
        for given in self.given.iter().filter(|given| same(&given.digest)) {
            found = Some(given.caller.clone());
        }
        let known = self.known();
        for (_, token) in known.set.tokens.iter().filter(|(other, _)| same(other)) {
            let is_over = token.expires_at.is_some() && token.is_over(known.now());
            if !is_over {
                found = Some(Caller::new(&token.name, token.role, token.rooms.clone()));
            }
        }
        found
    }
}

// === impl Known ===

impl Known {
    /// The deployment's time, unix seconds, by what has been measured since it was told; the end of time if it was not.
    fn now(&self) -> u64 {
        self.read_at.map_or(u64::MAX, |(ms, at)| ms / 1000 + at.elapsed().as_secs())
    }
}

fn read(text: Option<&str>) -> Result<ApiTokens, TokenError> {
    let Some(text) = text else { return Ok(ApiTokens::default()) };
    serde_json::from_str(text).map_err(TokenError::Text)
}

fn write(set: &ApiTokens) -> Result<String, TokenError> {
    serde_json::to_string(set).map_err(TokenError::Text)
}
