//! The options as the service uses them: checked, secrets read. Nothing is bound or connected yet,
//! so whatever is wrong is found before anything starts.

use std::{error::Error, net::SocketAddr, sync::Arc, time::Duration};

use secrecy::ExposeSecret;
use vestibule_issuance::read_secret;
use vestibule_runtime::{
    ConnectionLimits, Tls, TraceSender, redis_options::RedisOptions, tls::ClientTlsOptions,
};
use vestibule_site::NetworkPrefixes;
use vestibule_store::{Clock, LinkOptions, Store};
use vestibule_token::DeploymentSecret;
use vestibule_traces::Traces;

use crate::{challenges::Providers, cli::Cli, ext_authz::GrpcLimits};

/// The checked configuration.
#[derive(Debug)]
pub(crate) struct Config {
    pub(crate) store: Store,
    pub(crate) secret: Arc<DeploymentSecret>,
    pub(crate) providers: Arc<Providers>,
    pub(crate) region: String,
    pub(crate) public_url: String,
    pub(crate) connections: ConnectionLimits,
    pub(crate) tls: Option<Tls>,
    pub(crate) listen: SocketAddr,
    pub(crate) grpc: Option<(SocketAddr, GrpcLimits)>,
    pub(crate) admin_listen: SocketAddr,
    pub(crate) docs: bool,
    pub(crate) network_prefixes: NetworkPrefixes,
    pub(crate) max_live_updates: usize,
    pub(crate) max_requests_in_flight: usize,
    pub(crate) shutdown_grace: Duration,
    pub(crate) traces: Traces,
    pub(crate) trace_sender: TraceSender,
}

// === impl Config ===

impl Config {
    /// Reads and checks what the options say.
    ///
    /// # Errors
    /// Names the option that cannot be used, never a secret.
    pub(crate) fn read(cli: &Cli) -> Result<Self, Box<dyn Error>> {
        let (traces, trace_sender) = cli.common.traces.read("admission", &cli.common.region)?;
        let connections = cli.common.connections.limits()?;
        let grpc_limits = GrpcLimits {
            connections: cli.common.connections.of_gateways(),
            proxies: connections.proxies.clone(),
            head: connections.head,
        };
        Ok(Self {
            store: open_store(&cli.common.redis)?,
            secret: Arc::new(read_secret(&cli.common)?),
            providers: Arc::new(Providers::read(&cli.providers)?),
            region: cli.common.region.clone(),
            public_url: cli.public_url()?,
            connections,
            tls: cli.common.tls.load(&ClientTlsOptions::default())?,
            listen: cli.listen,
            grpc: cli.grpc_listen.map(|address| (address, grpc_limits)),
            admin_listen: cli.admin_listen,
            docs: cli.docs,
            network_prefixes: cli.network_prefixes(),
            max_live_updates: cli.max_live_updates,
            max_requests_in_flight: cli.max_requests_in_flight,
            shutdown_grace: cli.common.shutdown_grace(),
            traces,
            trace_sender,
        })
    }
}

fn open_store(redis: &RedisOptions) -> Result<Store, Box<dyn Error>> {
    let mut options =
        LinkOptions::new(redis.timeout()).wait(redis.redis_wait_replicas, redis.wait());
    if let Some(authorities) = redis.read_authorities()? {
        options = options.authorities(authorities)?;
    }
    let address = redis.read_address()?.expose_secret().parse()?;
    Ok(Store::connect(&address, &options, Clock::Server)?)
}
