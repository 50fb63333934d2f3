//! The key ring in a service's memory. It is read from Redis, where its private keys are sealed,
//! and written back when Redis has lost it.

use std::{
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use tokio::time::sleep;
use vestibule_store::{SharedReading, Store};
use vestibule_token::{
    Claims, DeploymentSecret, Jwk, Jwks, KeyAlgorithm, KeyRecord, KeyRing, PrivateJwk, SigningKey,
    VerifyError, announce, join, reseal, sealed_as, succeed, succession, verify_for, withdraw,
};

use crate::{KeyError, KeyWork, key_work::on_a_thread};

/// How often the ring is read.
const POLL: Duration = Duration::from_secs(1);
/// Within this time every service that runs has looked at the ring.
const OTHERS_LOOK: Duration = Duration::from_millis(1_500);

/// The deployment's key ring. Cloning is cheap.
#[derive(Debug, Clone)]
pub struct Keystore(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    store: Store,
    secret: Arc<DeploymentSecret>,
    work: Arc<dyn KeyWork>,
    /// What new keys sign with where nobody says otherwise.
    algorithm: KeyAlgorithm,
    ring: RwLock<Arc<Opened>>,
    /// The readings for those who cannot wait for the next.
    catching_up: SharedReading<Arc<KeyError>>,
}

#[derive(Debug, Default)]
struct Opened {
    text: String,
    records: Vec<KeyRecord>,
    ring: Arc<KeyRing>,
}

// === impl Keystore ===

impl Keystore {
    /// An empty ring; [`Self::refresh`] and [`Self::run`] fill it. Keys that are made here are for `algorithm`, unless
    /// said otherwise.
    #[must_use]
    pub fn new(
        store: Store,
        secret: Arc<DeploymentSecret>,
        work: Arc<dyn KeyWork>,
        algorithm: KeyAlgorithm,
    ) -> Self {
        Self(Arc::new(Inner {
            store,
            secret,
            work,
            algorithm,
            ring: RwLock::default(),
            catching_up: SharedReading::default(),
        }))
    }

    /// Keeps the ring fresh until it is dropped.
    pub async fn run(self) {
        loop {
            self.look().await;
            sleep(POLL).await;
        }
    }

    /// Looks at the ring once; who stops, for the last time: it may be the only one that knows of a key that Redis has
    /// lost.
    pub async fn look(&self) {
        if let Err(error) = self.refresh().await {
            tracing::debug!(%error, "the key ring could not be read");
        }
    }

    /// Reads the ring and returns whether Redis holds one. What Redis has lost is put back: the ring as a whole, and
    /// what an older one lacks that Redis has gone back to.
    ///
    /// # Errors
    /// When Redis does not answer, or the ring is sealed under another secret.
    pub async fn refresh(&self) -> Result<bool, KeyError> {
        let Some(text) = self.0.store.key_ring().await? else { return self.put_back().await };
        if text == self.opened().text {
            return Ok(true);
        }
        let found: Vec<KeyRecord> = serde_json::from_str(&text)?;
        let own = self.opened();
        let mended = sealed_as(&found, &own.records, &self.0.secret);
        let is_sealed_as_before = mended == found;
        // Where it lacks nothing, whatever time it is, it is taken in at once: Redis may be gone in the next moment.
        let now = match join(&mended, &own.records, 0) {
            Some(_) => self.0.store.now_ms().await? / 1000,
            None => 0,
        };
        let joined = match join(&mended, &own.records, now) {
            Some(joined) => joined,
            None if is_sealed_as_before => {
                self.open(text).await?;
                return Ok(true);
            }
            None => mended,
        };
        let joined = serde_json::to_string(&joined)?;
        // If another service has changed it meanwhile, the next look sees to it.
        if self.0.store.replace_key_ring(Some(&text), &joined).await? {
            tracing::warn!("redis had gone back to an older key ring: it is whole again");
            self.open(joined).await?;
        }
        Ok(true)
    }

    /// Writes the ring in memory where Redis holds none; returns whether there is one.
    async fn put_back(&self) -> Result<bool, KeyError> {
        let own = self.opened();
        if own.text.is_empty() {
            return Ok(false);
        }
        // If another service has written its own meanwhile, the next look sees to it.
        if self.0.store.replace_key_ring(None, &own.text).await? {
            tracing::warn!("redis had lost the key ring: it is back");
        }
        Ok(true)
    }

    /// Reads the ring. Whoever asks while it is being read waits for the next reading, which all of them share; if that
    /// under way fails, all of them have failed.
    ///
    /// # Errors
    /// As [`Self::refresh`].
    pub async fn catch_up(&self) -> Result<(), Arc<KeyError>> {
        self.0.catching_up.share(async || self.refresh().await.map(drop).map_err(Arc::new)).await
    }

    /// Makes sure that Redis holds a ring: the one that a service remembers, or a first one made at `now` (unix
    /// seconds).
    ///
    /// # Errors
    /// When Redis does not answer, or no key can be made.
    pub async fn ensure(&self, now: u64) -> Result<(), KeyError> {
        if self.refresh().await? || self.is_put_back_by_others().await? {
            return Ok(());
        }
        let algorithm = self.algorithm_for_all().await?;
        let text = serde_json::to_string(&[self.make_key(algorithm, now).await?])?;
        let text = self.0.store.create_key_ring(&text).await?;
        self.open(text).await
    }

    /// Where there are rooms there was a ring: whoever remembers it puts it back with its next look.
    async fn is_put_back_by_others(&self) -> Result<bool, KeyError> {
        if self.0.store.rooms().await?.is_empty() {
            return Ok(false);
        }
        sleep(OTHERS_LOOK).await;
        let is_back = self.refresh().await?;
        if !is_back {
            tracing::warn!(
                "redis has lost the key ring and no service remembers it: another one is made"
            );
        }
        Ok(is_back)
    }

    /// Makes a new key at `now` and publishes it, to sign from `signs_from` (unix seconds); `algorithm`: with what, `None`
    /// for the deployment's choice. Returns its id.
    ///
    /// # Errors
    /// [`KeyError::Unread`]; when Redis does not answer or holds no ring, or no key can be made.
    pub async fn announce(
        &self,
        algorithm: Option<KeyAlgorithm>,
        now: u64,
        signs_from: u64,
    ) -> Result<String, KeyError> {
        let algorithm = algorithm.unwrap_or(self.0.algorithm);
        self.expect_read(algorithm).await?;
        let new = self.make_key(algorithm, now).await?;
        self.change(|records| Some(announce(records, new.clone(), now, signs_from))).await?;
        Ok(new.kid)
    }

    /// Publishes a key that was made elsewhere, as [`Self::announce`] does with a new one. Returns whether it did: a key of
    /// this name may be known already.
    ///
    /// # Errors
    /// [`KeyError::Unread`]; when Redis does not answer or holds no ring, or the key cannot be used:
    /// [`SigningKeyError`](vestibule_token::SigningKeyError).
    pub async fn import(
        &self,
        key: PrivateJwk,
        now: u64,
        signs_from: u64,
    ) -> Result<bool, KeyError> {
        self.expect_read(key.algorithm()).await?;
        let secret = Arc::clone(&self.0.secret);
        let sealed = on_a_thread(move || Ok(KeyRecord::seal(&secret, &key.open()?, now)?)).await?;
        self.change(|records| {
            let is_new = records.iter().all(|record| record.kid != sealed.kid);
            is_new.then(|| announce(records, sealed.clone(), now, signs_from))
        })
        .await
    }

    /// When the announced key begins to sign, unix seconds; `None`: no key is announced.
    #[must_use]
    pub fn succession(&self) -> Option<u64> {
        succession(&self.opened().records)
    }

    /// Makes an announced key sign if it is due at `now`. Earlier keys verify until their last
    /// token, of at most `longest_validity` seconds, has expired. Returns whether one was due.
    ///
    /// # Errors
    /// When Redis does not answer or holds no ring.
    pub async fn succeed(&self, now: u64, longest_validity: u64) -> Result<bool, KeyError> {
        self.change(|records| succeed(records, now, longest_validity)).await
    }

    /// Withdraws the key `kid` at `now`: whoever held a token by it gets one by another key with the next call. If it
    /// signs, a new one does from now on. Returns whether there is such a key.
    ///
    /// # Errors
    /// When Redis does not answer or holds no ring, or no key can be made.
    pub async fn withdraw(
        &self,
        kid: &str,
        now: u64,
        longest_validity: u64,
    ) -> Result<bool, KeyError> {
        let successor = self.make_key(self.algorithm_for_all().await?, now).await?;
        self.change(|records| withdraw(records, kid, &successor, now, longest_validity)).await
    }

    /// Seals the ring under the current secret where another one had sealed it. Returns whether one had.
    ///
    /// # Errors
    /// When Redis does not answer or holds no ring.
    pub async fn reseal(&self) -> Result<bool, KeyError> {
        self.change(|records| reseal(records, &self.0.secret)).await
    }

    /// Changes the ring in Redis by `rule`, again if another service has changed it meanwhile.
    /// Returns whether it was changed; `rule` returns `None` for no change.
    async fn change(
        &self,
        rule: impl Fn(&[KeyRecord]) -> Option<Vec<KeyRecord>>,
    ) -> Result<bool, KeyError> {
        loop {
            if !self.refresh().await? {
                return Err(KeyError::Missing);
            }
            let read = self.opened();
            let Some(changed) = rule(&read.records) else { return Ok(false) };
            let text = serde_json::to_string(&changed)?;
            if self.0.store.replace_key_ring(Some(&read.text), &text).await? {
                self.open(text).await?;
                return Ok(true);
            }
        }
    }

    /// The key that signs new tokens.
    ///
    /// # Errors
    /// [`KeyError::Missing`] before there is one.
    pub fn current(&self) -> Result<Arc<SigningKey>, KeyError> {
        self.opened().ring.current().cloned().ok_or(KeyError::Missing)
    }

    /// The id of the key that signs new tokens, and when it was made, unix seconds; `None` before there is one.
    #[must_use]
    pub fn signs_since(&self) -> Option<(String, u64)> {
        let opened = self.opened();
        let signs = opened.records.iter().find(|record| record.signs())?;
        Some((signs.kid.clone(), signs.created_at))
    }

    /// The key that signed an earlier token, or the current one if that is gone or nobody takes it at `now` (unix seconds).
    ///
    /// # Errors
    /// [`KeyError::Missing`] before there is any.
    pub fn get(&self, kid: &str, now: u64) -> Result<Arc<SigningKey>, KeyError> {
        self.opened().ring.get(kid, now).cloned().map_or_else(|| self.current(), Ok)
    }

    /// The public keys whose tokens may still be valid at `now`.
    #[must_use]
    pub fn jwks(&self, now: u64) -> Jwks {
        self.opened().ring.jwks(now)
    }

    /// The claims of `token`, if it is an access token that opens the room with these names at `now`, unix seconds.
    ///
    /// # Errors
    /// See [`VerifyError`].
    pub fn verify(&self, token: &str, names: &[&str], now: u64) -> Result<Claims, VerifyError> {
        verify_for(token, &self.opened().ring, names, now)
    }

    /// The public key that verifies new tokens.
    ///
    /// # Errors
    /// [`KeyError::Missing`] before there is one.
    pub fn public_jwk(&self) -> Result<Jwk, KeyError> {
        Ok(self.current()?.public_jwk().clone())
    }

    fn opened(&self) -> Arc<Opened> {
        Arc::clone(&self.0.ring.read().unwrap_or_else(PoisonError::into_inner))
    }

    async fn open(&self, text: String) -> Result<(), KeyError> {
        let records: Vec<KeyRecord> = serde_json::from_str(&text)?;
        let ring = self.0.work.open(&self.0.secret, &records).await?;
        let opened = Opened { text, records, ring };
        *self.0.ring.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(opened);
        Ok(())
    }

    async fn make_key(&self, algorithm: KeyAlgorithm, now: u64) -> Result<KeyRecord, KeyError> {
        self.0.work.make(&self.0.secret, algorithm, now).await
    }

    /// Refuses a key that a running service could not read: it would not read any key of the ring any more.
    async fn expect_read(&self, algorithm: KeyAlgorithm) -> Result<(), KeyError> {
        match self.unread_by(algorithm).await? {
            Some(instance) => Err(KeyError::Unread(instance)),
            None => Ok(()),
        }
    }

    /// The deployment's choice, or RS256 while a running service could not read such a key: for a key that must be made
    /// now.
    async fn algorithm_for_all(&self) -> Result<KeyAlgorithm, KeyError> {
        let chosen = self.0.algorithm;
        let Some(instance) = self.unread_by(chosen).await? else { return Ok(chosen) };
        tracing::warn!(
            instance,
            "the new key signs with RS256: a service of an older release runs"
        );
        Ok(KeyAlgorithm::Rs256)
    }

    async fn unread_by(&self, algorithm: KeyAlgorithm) -> Result<Option<String>, KeyError> {
        match algorithm {
            KeyAlgorithm::Rs256 => Ok(None),
            KeyAlgorithm::Es256 => Ok(self.0.store.reads_no_es256().await?),
        }
    }
}
