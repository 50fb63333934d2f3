//! What the service is made of. The one place that constructs its parts.

use std::sync::Arc;

use vestibule_entry::{Desk, KeyKeeper, Seals, Signer, aws::Generate};
use vestibule_store::{Clock, Feed, Store, StoreError};
use vestibule_token::DeploymentSecret;

use crate::desks::{CheckIns, Door, JoinDesk, LeaveDesk, TouchDesk};

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
    /// The signing pool.
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
    /// Where the waiting are counted.
    pub(crate) check_ins: CheckIns,
    /// This instance's region, as request ids carry it.
    pub(crate) region_index: u8,
    /// The address visitors see.
    pub(crate) public_url: String,
}

/// What the service is told.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    /// Names this instance among its equals.
    pub(crate) instance: String,
    /// Where it runs.
    pub(crate) region: String,
    /// The address visitors see.
    pub(crate) public_url: String,
}

// === impl Admission ===

impl Admission {
    /// Puts the parts together, once Redis answers; waits for nothing else.
    ///
    /// # Errors
    /// [`StoreError::NewerSchema`], or when Redis does not answer.
    pub(crate) async fn start(
        store: Store,
        secret: Arc<DeploymentSecret>,
        settings: Settings,
    ) -> Result<Arc<Self>, StoreError> {
        let Settings { instance, region, public_url } = settings;
        store.check_schema().await?;
        let region_index = store.region_index(&region, None).await?;
        let feed = Feed::new(store.clone(), instance);
        let keys = KeyKeeper::new(store.clone(), Arc::clone(&secret));
        let joins = JoinDesk::new(
            store.clone(),
            feed.clone(),
            keys.clone(),
            region,
            region_index,
            public_url.clone(),
        );
        let touches = TouchDesk::new(store.clone(), feed.clone(), keys.clone(), public_url.clone());
        let desk = Desk::new(store.clone(), feed.clone(), keys.clone());
        Ok(Arc::new(Self {
            door: Door::new(desk.clone()),
            seals: Seals::new(secret),
            signer: Signer::default(),
            desk,
            joins,
            touches,
            leaves: LeaveDesk::new(store.clone()),
            check_ins: CheckIns::new(store.clone()),
            region_index,
            public_url,
            store,
            feed,
            keys,
        }))
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

    /// Opens the store at `url`.
    ///
    /// # Errors
    /// [`StoreError::Address`].
    pub(crate) fn open_store(url: &str) -> Result<Store, StoreError> {
        Store::open(url, Clock::Server)
    }
}
