//! What the controller is made of. The one place that constructs its parts.

use std::{net::SocketAddr, sync::Arc};

use secrecy::SecretString;
use vestibule_issuance::{CipherCache, ClaimBatcher, Keystore, Signer, aws::GenerateTokenContext};
use vestibule_runtime::metrics::Registry;
use vestibule_store::{Feed, Store};
use vestibule_token::DeploymentSecret;

use crate::{config::Config, loops::Leadership, metrics::Metrics};

/// The parts of the controller, shared by all requests and loops.
#[derive(Debug)]
pub struct Controller {
    /// Names this instance among its equals.
    pub instance: String,
    /// Redis.
    pub store: Store,
    /// The rooms, as far as this instance knows them.
    pub feed: Feed,
    /// The key ring.
    pub keys: Keystore,
    /// The ciphers of request ids.
    pub ciphers: CipherCache,
    /// The signing threads.
    pub signer: Signer,
    /// Where claims are handed in.
    pub claims: ClaimBatcher,
    /// Whether this instance leads.
    pub leadership: Leadership,
    /// What is measured.
    pub metrics: Metrics,
    /// The default issuer.
    pub public_url: String,
    /// The deployment's secret, for the seeds of draws.
    pub secret: Arc<DeploymentSecret>,
    /// What operators show.
    pub api_token: SecretString,
}

// === impl Controller ===

impl Controller {
    /// Puts the parts together. Connects nothing and starts no task.
    #[must_use]
    pub fn start(config: Config, address: SocketAddr, registry: &mut Registry) -> Arc<Self> {
        let Config { store, secret, api_token, public_url, region, .. } = config;
        let instance = format!("controller-{region}-{:08x}", rand::random::<u32>());
        let feed = Feed::new(store.clone(), instance.as_str());
        let keys = Keystore::new(store.clone(), Arc::clone(&secret));
        Arc::new(Self {
            claims: ClaimBatcher::new(store.clone(), feed.clone(), keys.clone()),
            ciphers: CipherCache::new(Arc::clone(&secret)),
            signer: Signer::default(),
            leadership: Leadership::default(),
            metrics: Metrics::register(registry, &store, &feed),
            public_url: public_url.unwrap_or_else(|| format!("http://{address}")),
            instance,
            store,
            feed,
            keys,
            secret,
            api_token,
        })
    }

    /// What `generate_token` needs, to make tokens of `issuer` that are valid for so long.
    #[must_use]
    pub fn generate<'a>(
        &'a self,
        issuer: &'a str,
        validity_seconds: Option<u64>,
    ) -> GenerateTokenContext<'a> {
        GenerateTokenContext {
            claims: &self.claims,
            keys: &self.keys,
            ciphers: &self.ciphers,
            signer: &self.signer,
            issuer,
            validity_seconds,
        }
    }
}
