//! What the service is made of. The one place that constructs its parts.

use std::sync::{
    Arc,
    atomic::{AtomicU8, Ordering},
};

use tokio::time::Instant;
use vestibule_entry::{Desk, KeyKeeper, Seals, Signer, aws::Generate};
use vestibule_store::{Feed, Store, StoreError};

use crate::{
    authorizer::{CoverageBoard, Tally, TrustedProxies},
    config::Config,
    desks::{CheckIns, Door, DrawBoard, JoinDesk, LeaveDesk, TouchDesk},
    page::{LiveDesk, LooksBoard},
};

/// The parts of the admission service, shared by all requests.
#[derive(Debug)]
pub(crate) struct Admission {
    /// Redis.
    pub(crate) store: Store,
    /// The rooms, as far as this instance knows them.
    pub(crate) feed: Feed,
    /// The key ring.
    pub(crate) keys: KeyKeeper,
    /// The ciphers of request ids and tickets.
    pub(crate) seals: Seals,
    /// The signing threads.
    pub(crate) signer: Signer,
    /// Where claims are handed in.
    pub(crate) desk: Desk,
    /// Where those wait whose turn it is.
    pub(crate) door: Door,
    /// Where numbers are given out.
    pub(crate) joins: JoinDesk,
    /// Where those inside are noted as seen.
    pub(crate) touches: TouchDesk,
    /// Where seats are given back.
    pub(crate) leaves: LeaveDesk,
    /// Where it is published how draws were made.
    pub(crate) draws: DrawBoard,
    /// What the rooms cover.
    pub(crate) coverage: CoverageBoard,
    /// How often the authorizer decided what.
    pub(crate) tally: Tally,
    /// Who may ask about others' requests.
    pub(crate) proxies: TrustedProxies,
    /// Operators' own pages and logos.
    pub(crate) looks: LooksBoard,
    /// Who is told news as they happen.
    pub(crate) live: LiveDesk,
    /// Where the waiting are counted.
    pub(crate) check_ins: CheckIns,
    /// Where this instance runs.
    pub(crate) region: Arc<Region>,
    /// The address visitors see.
    pub(crate) public_url: String,
    started: Instant,
}

// === impl Admission ===

impl Admission {
    /// Puts the parts together. Nothing is connected yet.
    pub(crate) fn new(config: &Config) -> Self {
        let store = config.store.clone();
        let instance = format!("admission-{:016x}", rand::random::<u64>());
        let feed = Feed::new(store.clone(), instance);
        let keys = KeyKeeper::new(store.clone(), Arc::clone(&config.secret));
        let desk = Desk::new(store.clone(), feed.clone(), keys.clone());
        let region = Arc::new(Region::new(config.region.clone()));
        let public_url = config.public_url.clone();
        let parts = (store.clone(), feed.clone(), keys.clone());
        Self {
            seals: Seals::new(Arc::clone(&config.secret)),
            signer: Signer::default(),
            coverage: CoverageBoard::new(feed.clone()),
            tally: Tally::default(),
            proxies: config.proxies.clone(),
            door: Door::new(desk.clone()),
            desk,
            joins: JoinDesk::new(parts.clone(), Arc::clone(&region), public_url.clone()),
            touches: TouchDesk::new(parts, public_url.clone()),
            leaves: LeaveDesk::new(store.clone()),
            draws: DrawBoard::new(store.clone()),
            looks: LooksBoard::default(),
            live: LiveDesk::new(config.max_live_updates),
            check_ins: CheckIns::new(store.clone()),
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
    pub(crate) fn generate<'a>(&'a self, room_issuer: Option<&'a str>) -> Generate<'a> {
        Generate {
            desk: &self.desk,
            keys: &self.keys,
            seals: &self.seals,
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
