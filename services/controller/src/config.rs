//! The options as the service uses them: checked, secrets read. Nothing is bound or connected yet,
//! so whatever is wrong is found before anything starts.

use std::{collections::BTreeMap, net::SocketAddr, sync::Arc, time::Duration};

use secrecy::ExposeSecret;
use vestibule_issuance::read_secret;
use vestibule_runtime::{
    ConnectionLimits, PublicUrlError, Tls, TraceSender,
    connection_options::TooManyConnections,
    read_public_url,
    redis_options::{AuthoritiesError, RedisOptions},
    secret::SecretError,
    tls::TlsError,
    traces::TraceOptionsError,
};
use vestibule_store::{Clock, LinkOptions, Store, StoreError};
use vestibule_token::{DeploymentSecret, KeyAlgorithm, SnsCertificate};
use vestibule_traces::Traces;

use crate::{
    cli::Cli,
    sns::GivenCertificatesError,
    tokens::{GivenSigner, GivenSignerError, GivenToken, GivenTokenError},
};

/// The checked configuration.
#[derive(Debug)]
pub(crate) struct Config {
    /// Redis, not yet connected.
    pub(crate) store: Store,
    /// The deployment's secret.
    pub(crate) secret: Arc<DeploymentSecret>,
    /// The tokens of callers that options give.
    pub(crate) tokens: Vec<GivenToken>,
    /// The keys that an option gives by which callers sign requests.
    pub(crate) signers: Vec<GivenSigner>,
    /// The region for which they sign.
    pub(crate) sigv4_region: String,
    /// Certificates of Amazon SNS that need not be asked for, by the names of their files.
    pub(crate) sns_certificates: BTreeMap<String, SnsCertificate>,
    /// Whether beacons may be in private networks.
    pub(crate) private_beacons: bool,
    /// For how long the audit log is kept.
    pub(crate) audit: Duration,
    /// What new signing keys sign with.
    pub(crate) signing_algorithm: KeyAlgorithm,
    /// Where operators call; port 0 takes any free one.
    pub(crate) listen: SocketAddr,
    /// Where probes and Prometheus ask; port 0 takes any free one.
    pub(crate) admin_listen: SocketAddr,
    /// How many connections operators may have.
    pub(crate) connections: ConnectionLimits,
    /// The TLS of the operators' address, if it speaks it.
    pub(crate) tls: Option<Tls>,
    /// The default issuer; the listening address if there is none.
    pub(crate) public_url: Option<String>,
    /// Where this instance runs.
    pub(crate) region: String,
    /// How long requests and tasks may take to end.
    pub(crate) shutdown_grace: Duration,
    /// Begins traces.
    pub(crate) traces: Traces,
    /// Sends them.
    pub(crate) trace_sender: TraceSender,
}

/// The options cannot be used. What exactly is wrong is in the source.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConfigError {
    /// A secret is missing, given twice, unreadable or too short.
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// A token of callers is missing, or not as it must be.
    #[error(transparent)]
    Token(#[from] GivenTokenError),
    /// A key for signed requests is not as it must be.
    #[error(transparent)]
    Signer(#[from] GivenSignerError),
    /// A certificate of Amazon SNS cannot be read.
    #[error(transparent)]
    Sns(#[from] GivenCertificatesError),
    /// The address of Redis is not valid.
    #[error("VESTIBULE_REDIS_URL")]
    Redis(#[from] StoreError),
    /// The certificate authorities of Redis cannot be read.
    #[error(transparent)]
    Authorities(#[from] AuthoritiesError),
    /// The files of TLS cannot be used.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// More connections are asked for than fit.
    #[error(transparent)]
    Connections(#[from] TooManyConnections),
    /// The address that visitors see is none.
    #[error(transparent)]
    PublicUrl(#[from] PublicUrlError),
    /// The options of traces cannot be used.
    #[error(transparent)]
    Traces(#[from] TraceOptionsError),
}

// === impl Config ===

impl Config {
    /// Checks the options and reads the secrets.
    ///
    /// # Errors
    /// [`ConfigError`], naming the variable.
    pub(crate) fn read(cli: &Cli) -> Result<Self, ConfigError> {
        let (traces, trace_sender) = cli.common.traces.read("controller", &cli.common.region)?;
        let tokens = cli.read_tokens()?;
        Ok(Self {
            store: open_store(&cli.common.redis)?,
            secret: Arc::new(read_secret(&cli.common)?),
            signers: cli.read_signers(&tokens)?,
            sigv4_region: cli.sigv4_region.clone(),
            tokens,
            sns_certificates: cli.read_sns_certificates()?,
            private_beacons: cli.private_beacons,
            audit: cli.audit_retention(),
            signing_algorithm: cli.signing_algorithm,
            listen: cli.listen,
            admin_listen: cli.admin_listen,
            connections: cli.common.connections.limits()?,
            tls: cli.common.tls.load(&cli.client_tls)?,
            public_url: read_public_url(cli.public_url.as_deref())?,
            region: cli.common.region.clone(),
            shutdown_grace: cli.common.shutdown_grace(),
            traces,
            trace_sender,
        })
    }
}

/// Opens the store that the options name.
///
/// # Errors
/// [`ConfigError`], naming the variable.
pub(crate) fn open_store(redis: &RedisOptions) -> Result<Store, ConfigError> {
    let mut options =
        LinkOptions::new(redis.timeout()).wait(redis.redis_wait_replicas, redis.wait());
    if let Some(authorities) = redis.read_authorities()? {
        options = options.authorities(authorities)?;
    }
    let address = redis.read_address()?.expose_secret().parse()?;
    Ok(Store::connect(&address, &options, Clock::Server)?)
}
