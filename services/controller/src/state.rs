//! What the controller is made of. The one place that constructs its parts.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use tokio::time::Instant;
use vestibule_issuance::{
    CipherCache, ClaimBatcher, Keystore, Machine, Outbox, Signer, aws::GenerateTokenContext,
};
use vestibule_runtime::{Random, TrustedProxies, metrics::Registry};
use vestibule_store::{CONTROLLER, Feed, Store};
use vestibule_token::DeploymentSecret;
use vestibule_traces::Traces;

use crate::{
    audit::AuditLog,
    beacon::BeaconClient,
    closed_minutes::ClosedMinutes,
    config::Config,
    guesses::Guesses,
    last_day::LastDays,
    leadership::Leadership,
    longest_validity::Validities,
    metrics::Metrics,
    rooms::{ConfigEditor, DrawSeeds, ProviderIssuers, RoomDirectory},
    sns::Sns,
    tokens::Tokens,
    wait_checks::WaitChecks,
    webhooks::{WebhookClient, WebhookDirectory},
};

/// The parts of the controller, shared by all requests and loops.
#[derive(Debug)]
pub(crate) struct Controller {
    /// The unique name of this instance.
    pub(crate) instance: Arc<str>,
    /// The start has found that this release can work with the keyspace, and has learnt what time it is there.
    knows_keyspace: AtomicBool,
    /// See [`Self::note_keyspace_whole`].
    knew_it_whole: AtomicBool,
    /// Rounds of questions so far: see `loops/reconcile.rs`.
    rounds: AtomicU64,
    /// Redis.
    pub(crate) store: Store,
    /// The rooms, as far as this instance knows them.
    pub(crate) feed: Feed,
    /// The last day of their histories.
    pub(crate) last_days: LastDays,
    /// Up to when it has closed minutes in the rooms that it serves.
    pub(crate) closed_minutes: ClosedMinutes,
    /// What came of the waits that were told there.
    pub(crate) wait_checks: WaitChecks,
    /// The rooms, as Redis holds them.
    pub(crate) rooms: RoomDirectory,
    /// Changes what operators have configured.
    pub(crate) configs: ConfigEditor,
    /// The key ring.
    pub(crate) keys: Keystore,
    /// For how long what they have signed may be valid.
    pub(crate) validities: Validities,
    /// The ciphers of request ids.
    pub(crate) ciphers: CipherCache,
    /// The signing threads.
    pub(crate) signer: Signer,
    /// Sends claims.
    pub(crate) claims: ClaimBatcher,
    /// Whether this instance leads.
    pub(crate) leadership: Leadership,
    /// The metrics.
    pub(crate) metrics: Metrics,
    /// The default issuer.
    pub(crate) public_url: String,
    /// The issuers that nobody may choose.
    pub(crate) issuers: ProviderIssuers,
    /// The deployment's secret, for the seeds of draws.
    pub(crate) secret: Arc<DeploymentSecret>,
    /// The tokens that callers show, and the keys that they sign with.
    pub(crate) tokens: Tokens,
    /// The region for which requests are signed.
    pub(crate) sigv4_region: String,
    /// Who has changed what.
    pub(crate) audit: AuditLog,
    /// What is known of wrong tokens.
    pub(crate) guesses: Guesses,
    /// The gateways that are believed where a call comes from.
    pub(crate) proxies: TrustedProxies,
    /// When this instance last brought a room back that Redis had lost, ms; 0: never.
    restored_at_ms: AtomicU64,
    /// What webhooks are told.
    pub(crate) outbox: Outbox,
    /// Who is told.
    pub(crate) webhooks: WebhookDirectory,
    /// Tells them.
    pub(crate) webhook_client: WebhookClient,
    /// Asks the beacons of draws.
    pub(crate) beacons: BeaconClient,
    /// Asks Amazon SNS.
    pub(crate) sns: Sns,
    /// Begins traces.
    pub(crate) traces: Traces,
}

// === impl Controller ===

impl Controller {
    /// Puts the parts together. Connects nothing and starts no task.
    #[must_use]
    pub(crate) fn new(
        config: Config,
        machine: Machine,
        address: SocketAddr,
        registry: &mut Registry,
    ) -> Self {
        let Machine { random, keys, signer } = machine;
        let signing_algorithm = config.signing_algorithm;
        let Config {
            store,
            secret,
            tokens,
            signers,
            sigv4_region,
            audit,
            sns_certificates,
            private_beacons,
            public_url,
            region,
            connections,
            tls,
            traces,
            ..
        } = config;
        let scheme = if tls.is_some() { "https" } else { "http" };
        let instance: Arc<str> = instance_name(&region, &random).into();
        let store = store.named(&instance).in_region(&region);
        let feed = Feed::new(store.clone(), &*instance);
        let rooms = RoomDirectory::new(store.clone(), feed.clone());
        let given = (tokens, signers);
        let tokens = Tokens::new(given, Arc::clone(&secret), store.clone(), random.clone());
        let metrics = Metrics::register(registry, &store, &feed);
        let audit = AuditLog::new(store.clone(), audit, metrics.audit_failed.clone());
        let outbox = Outbox::new(store.clone(), random.clone());
        let webhooks = WebhookDirectory::new(
            store.clone(),
            outbox.clone(),
            Arc::clone(&secret),
            random.clone(),
        );
        let issuers = ProviderIssuers::new(public_url.as_deref());
        let beacons = BeaconClient::new(private_beacons);
        let draws = DrawSeeds::new(Arc::clone(&secret), random);
        let keys = Keystore::new(store.clone(), Arc::clone(&secret), keys, signing_algorithm);
        Self {
            claims: ClaimBatcher::new(store.clone(), keys.clone()),
            configs: ConfigEditor::new(
                rooms.clone(),
                draws,
                beacons.clone(),
                issuers.clone(),
                Arc::clone(&instance),
            ),
            issuers,
            rooms,
            ciphers: CipherCache::new(Arc::clone(&secret)),
            signer,
            last_days: LastDays::default(),
            closed_minutes: ClosedMinutes::default(),
            wait_checks: WaitChecks::default(),
            validities: Validities::default(),
            leadership: Leadership::default(),
            metrics,
            public_url: public_url.unwrap_or_else(|| format!("{scheme}://{address}")),
            instance,
            knows_keyspace: AtomicBool::new(false),
            knew_it_whole: AtomicBool::new(false),
            rounds: AtomicU64::new(0),
            store,
            feed,
            keys,
            secret,
            tokens,
            sigv4_region,
            audit,
            guesses: Guesses::new(connections.total, Instant::now()),
            proxies: connections.proxies,
            restored_at_ms: AtomicU64::new(0),
            outbox,
            webhooks,
            webhook_client: WebhookClient::default(),
            beacons,
            sns: Sns::new(sns_certificates),
            traces,
        }
    }

    /// Notes that a room was brought back at `now_ms`.
    pub(crate) fn note_restored(&self, now_ms: u64) {
        self.restored_at_ms.fetch_max(now_ms, Ordering::Relaxed);
    }

    /// When this instance last brought a room back that Redis had lost, ms; `None`: never.
    pub(crate) fn restored_at(&self) -> Option<u64> {
        Some(self.restored_at_ms.load(Ordering::Relaxed)).filter(|at| *at > 0)
    }

    /// Notes that nothing stands against working with the keyspace.
    pub(crate) fn note_keyspace_known(&self) {
        self.knows_keyspace.store(true, Ordering::Release);
    }

    /// Whether operators' calls can be carried out.
    pub(crate) fn knows_keyspace(&self) -> bool {
        self.knows_keyspace.load(Ordering::Acquire)
    }

    /// Notes that the keyspace was whole, and that this instance has read all of it.
    pub(crate) fn note_keyspace_whole(&self) {
        self.knew_it_whole.store(true, Ordering::Release);
    }

    /// Whether this instance remembers a keyspace that was whole.
    pub(crate) fn knew_keyspace_whole(&self) -> bool {
        self.knew_it_whole.load(Ordering::Acquire)
    }

    /// A name for the next round of questions: see `loops/reconcile.rs`.
    pub(crate) fn next_round(&self) -> String {
        format!("{}-{}", self.instance, self.rounds.fetch_add(1, Ordering::Relaxed))
    }

    /// What `generate_token` needs, to make tokens of `issuer` that are valid for so long.
    #[must_use]
    pub(crate) fn generate_token_context<'a>(
        &'a self,
        issuer: &'a str,
        validity_seconds: Option<u64>,
    ) -> GenerateTokenContext<'a, ClaimBatcher> {
        GenerateTokenContext {
            feed: &self.feed,
            claims: &self.claims,
            held_ms: 0,
            keys: &self.keys,
            ciphers: &self.ciphers,
            signer: &self.signer,
            issuer,
            outbox: &self.outbox,
            network: None,
            validity_seconds,
        }
    }
}

fn instance_name(region: &str, random: &Random) -> String {
    format!("{CONTROLLER}{region}-{:08x}", random.number() >> 32)
}
