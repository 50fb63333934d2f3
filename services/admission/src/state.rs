//! What the service is made of. The one place that constructs its parts.

use std::sync::Arc;

use tokio::time::Instant;
use vestibule_issuance::{
    CipherCache, ClaimBatcher, Keystore, Machine, Outbox, aws::GenerateTokenContext,
};
use vestibule_runtime::RequestTraces;
use vestibule_store::{Feed, Store};
use vestibule_token::KeyAlgorithm;

use crate::{
    authorizer::Authorizer,
    batching::{
        CheckInBatcher, ClaimWindows, GiveUpBatcher, HeldClaims, JoinBatcher, LeaveBatcher,
        SpendBatcher, TouchBatcher,
    },
    caches::DrawCache,
    challenges::Challenges,
    clients::Clients,
    config::Config,
    flows::{Flows, Proofs, Redemptions, RoomContext, StrangerCounter, Tally},
    limit_counter::LimitCounter,
    page::Pages,
    region::Region,
};

/// The parts of the admission service, shared by all requests.
#[derive(Debug)]
pub(crate) struct Admission {
    /// Redis.
    pub(crate) store: Store,
    /// The rooms, as far as this instance knows them.
    pub(crate) feed: Feed,
    /// The keys that sign tokens.
    pub(crate) keys: Keystore,
    /// The operations of visitors.
    pub(crate) flows: Arc<Flows>,
    /// The waiting page.
    pub(crate) pages: Arc<Pages>,
    /// Tells clients apart.
    pub(crate) clients: Clients,
    /// Decides for gateways.
    pub(crate) authorizer: Authorizer,
    /// The published records of draws.
    pub(crate) draws: DrawCache,
    /// What webhooks are told.
    pub(crate) outbox: Outbox,
    /// Begins the spans of requests.
    pub(crate) traces: RequestTraces,
}

/// How long an AWS-style client that is served is held at the door while no seat is free, before it is
/// answered 202, ms.
const HELD_MS: u64 = 10_000;

// === impl Admission ===

impl Admission {
    /// Puts the parts together. Connects nothing and starts no task.
    pub(crate) fn new(config: &Config, machine: Machine) -> Self {
        let Machine { random, keys, signer } = machine;
        let instance = format!("admission-{:016x}", random.number());
        let store = config.store.clone().named(&instance).in_region(&config.region);
        let feed = Feed::new(store.clone(), instance);
        let keys =
            Keystore::new(store.clone(), Arc::clone(&config.secret), keys, KeyAlgorithm::default());
        let claims = ClaimBatcher::new(store.clone(), keys.clone());
        let region = Arc::new(Region::new(config.region.clone()));
        let public_url = config.public_url.clone();
        let outbox = Outbox::new(store.clone(), random.clone());
        let limits = LimitCounter::default();
        let parts = (store.clone(), feed.clone(), keys.clone());
        let flows = Arc::new(Flows {
            strangers: StrangerCounter::default(),
            proofs: Proofs::default(),
            ciphers: CipherCache::new(Arc::clone(&config.secret)),
            signer,
            joins: JoinBatcher::new(
                parts.clone(),
                Arc::clone(&region),
                public_url.clone(),
                limits.clone(),
            ),
            limits,
            tally: Tally::new(store.clone()),
            held_claims: HeldClaims::new(claims, feed.clone(), random),
            touches: TouchBatcher::new(parts, public_url.clone()),
            leaves: LeaveBatcher::new(store.clone()),
            places: GiveUpBatcher::new(store.clone()),
            check_ins: CheckInBatcher::new(store.clone()),
            claim_windows: ClaimWindows::new(store.clone()),
            spends: SpendBatcher::new(store.clone()),
            redemptions: Redemptions::default(),
            challenges: Challenges::new(Arc::clone(&config.providers)),
            store: store.clone(),
            feed: feed.clone(),
            keys: keys.clone(),
            region,
            public_url,
            started: Instant::now(),
        });
        let pages = Arc::new(Pages::new(Arc::clone(&flows), config.max_live_updates));
        let clients = Clients {
            proxies: config.connections.proxies.clone(),
            prefixes: config.network_prefixes,
        };
        Self {
            traces: RequestTraces::new(config.traces.clone(), clients.proxies.clone()),
            authorizer: Authorizer::new(Arc::clone(&flows), Arc::clone(&pages), clients.clone()),
            clients,
            draws: DrawCache::new(store.clone()),
            outbox,
            store,
            feed,
            keys,
            flows,
            pages,
        }
    }

    /// What `generate_token` needs, with the issuer of `room_issuer` or this service.
    #[must_use]
    pub(crate) fn generate_token_context<'a>(
        &'a self,
        room: Option<&RoomContext>,
        room_issuer: Option<&'a str>,
    ) -> GenerateTokenContext<'a, HeldClaims> {
        GenerateTokenContext {
            feed: &self.feed,
            claims: &self.flows.held_claims,
            held_ms: HELD_MS,
            keys: &self.keys,
            ciphers: &self.flows.ciphers,
            signer: &self.flows.signer,
            outbox: &self.outbox,
            issuer: room_issuer.unwrap_or(&self.flows.public_url),
            network: room.and_then(RoomContext::claim_network),
            validity_seconds: None,
        }
    }
}
