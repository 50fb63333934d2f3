//! What the service is made of. The one place that constructs its parts.

use std::sync::{
    Arc,
    atomic::{AtomicU8, Ordering},
};

use tokio::time::Instant;
use vestibule_issuance::{CipherCache, ClaimBatcher, Keystore, Signer, aws::GenerateTokenContext};
use vestibule_store::{Feed, Store, StoreError};

use crate::{
    authorizer::{CoverageCache, DecisionCounter, TrustedProxies},
    batching::{CheckInBatcher, DrawCache, HeldClaims, JoinBatcher, LeaveBatcher, TouchBatcher},
    config::Config,
    page::{BrandingCache, LiveStreams},
};

/// The parts of the admission service, shared by all requests.
#[derive(Debug)]
pub(crate) struct Admission {
    /// Redis.
    pub(crate) store: Store,
    /// The rooms, as far as this instance knows them.
    pub(crate) feed: Feed,
    /// The key ring.
    pub(crate) keys: Keystore,
    /// The ciphers of request ids and tickets.
    pub(crate) ciphers: CipherCache,
    /// The signing threads.
    pub(crate) signer: Signer,
    /// Where claims are handed in.
    pub(crate) claims: ClaimBatcher,
    /// Where those wait whose turn it is.
    pub(crate) held_claims: HeldClaims,
    /// Where numbers are given out.
    pub(crate) joins: JoinBatcher,
    /// Where those inside are noted as seen.
    pub(crate) touches: TouchBatcher,
    /// Where seats are given back.
    pub(crate) leaves: LeaveBatcher,
    /// Where it is published how draws were made.
    pub(crate) draws: DrawCache,
    /// What the rooms cover.
    pub(crate) coverage: CoverageCache,
    /// How often the authorizer decided what.
    pub(crate) decisions: DecisionCounter,
    /// Who may ask about others' requests.
    pub(crate) proxies: TrustedProxies,
    /// Operators' own pages and logos.
    pub(crate) brandings: BrandingCache,
    /// Who is told news as they happen.
    pub(crate) live: LiveStreams,
    /// Where the waiting are counted.
    pub(crate) check_ins: CheckInBatcher,
    /// Where this instance runs.
    pub(crate) region: Arc<Region>,
    /// The address visitors see.
    pub(crate) public_url: String,
    started: Instant,
}

// === impl Admission ===

impl Admission {
    /// Puts the parts together. Nothing is connected yet.
    #[expect(clippy::disallowed_methods, reason = "a name of its own for each instance")]
    pub(crate) fn new(config: &Config) -> Self {
        let store = config.store.clone();
        let instance = format!("admission-{:016x}", rand::random::<u64>());
        let feed = Feed::new(store.clone(), instance);
        let keys = Keystore::new(store.clone(), Arc::clone(&config.secret));
        let claims = ClaimBatcher::new(store.clone(), feed.clone(), keys.clone());
        let region = Arc::new(Region::new(config.region.clone()));
        let public_url = config.public_url.clone();
        let parts = (store.clone(), feed.clone(), keys.clone());
        Self {
            ciphers: CipherCache::new(Arc::clone(&config.secret)),
            signer: Signer::default(),
            coverage: CoverageCache::new(feed.clone()),
            decisions: DecisionCounter::default(),
            proxies: config.proxies.clone(),
            held_claims: HeldClaims::new(claims.clone()),
            claims,
            joins: JoinBatcher::new(parts.clone(), Arc::clone(&region), public_url.clone()),
            touches: TouchBatcher::new(parts, public_url.clone()),
            leaves: LeaveBatcher::new(store.clone()),
            draws: DrawCache::new(store.clone()),
            brandings: BrandingCache::default(),
            live: LiveStreams::new(config.max_live_updates),
            check_ins: CheckInBatcher::new(store.clone()),
            region,
            public_url,
            started: Instant::now(),
            store,
            feed,
            keys,
        }
    }

    /// When this instance started, on the clock that now shows `now_ms`: who could not check in
    /// before is not blamed for it.
    #[must_use]
    pub(crate) fn started_ms(&self, now_ms: u64) -> u64 {
        let running = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        now_ms.saturating_sub(running)
    }

    /// Asks Redis for the index of this instance's region, or gives it back to a Redis that has
    /// forgotten it.
    ///
    /// # Errors
    /// As for every call to Redis.
    pub(crate) async fn learn_region(&self) -> Result<(), StoreError> {
        let known = Some(self.region.index()).filter(|index| *index > 0);
        let index = self.store.region_index(self.region.name(), known).await?;
        self.region.learn(index);
        Ok(())
    }

    /// What `generate_token` needs, with the issuer of `room_issuer` or this service.
    #[must_use]
    pub(crate) fn generate<'a>(&'a self, room_issuer: Option<&'a str>) -> GenerateTokenContext<'a> {
        GenerateTokenContext {
            claims: &self.claims,
            keys: &self.keys,
            ciphers: &self.ciphers,
            signer: &self.signer,
            issuer: room_issuer.unwrap_or(&self.public_url),
            validity_seconds: None,
        }
    }
}

/// Where this instance runs.
#[derive(Debug)]
pub(crate) struct Region {
    name: String,
    index: AtomicU8,
}

// === impl Region ===

impl Region {
    fn new(name: String) -> Self {
        Self { name, index: AtomicU8::new(0) }
    }

    /// Its name, as the traffic history has it.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Its index, as request ids carry it; 0 until Redis has told it.
    pub(crate) fn index(&self) -> u8 {
        self.index.load(Ordering::Relaxed)
    }

    fn learn(&self, index: u8) {
        self.index.store(index, Ordering::Relaxed);
    }
}
