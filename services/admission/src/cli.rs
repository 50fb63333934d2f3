//! The options of the admission service. `--help` is the manual.

use std::net::SocketAddr;

use clap::{Parser, Subcommand, builder::BoolishValueParser};
use vestibule_runtime::{PublicUrlError, options::CommonOptions, read_public_url};
use vestibule_site::NetworkPrefixes;

pub use crate::challenges::ProviderOptions;

/// Vestibule's admission service: gives visitors their place in line and lets them enter.
///
/// It keeps no state of its own: run as many as you like, behind any load balancer. It needs Redis
/// (or Valkey) and at least one vestibule-controller on the same Redis with the same secret.
#[derive(Debug, Parser)]
#[command(name = "vestibule-admission", version, max_term_width = 100)]
pub struct Cli {
    /// What else to do than serve.
    #[command(subcommand)]
    pub command: Option<Command>,

    /// The options of both services.
    #[command(flatten)]
    pub common: CommonOptions,

    /// Address for visitors and gateways.
    #[arg(long, env = "VESTIBULE_LISTEN", value_name = "ADDRESS", default_value = "0.0.0.0:8080")]
    pub listen: SocketAddr,

    /// Address for Envoy's external authorization over gRPC, without TLS; none if not given. Keep it
    /// private. Connections of anybody but trusted proxies are closed at once.
    #[arg(long, env = "VESTIBULE_GRPC_LISTEN", value_name = "ADDRESS")]
    pub grpc_listen: Option<SocketAddr>,

    /// Address for /livez, /readyz and /metrics. Keep it private.
    #[arg(
        long,
        env = "VESTIBULE_ADMIN_LISTEN",
        value_name = "ADDRESS",
        default_value = "127.0.0.1:9080"
    )]
    pub admin_listen: SocketAddr,

    /// The options of providers of challenges.
    #[command(flatten)]
    pub providers: ProviderOptions,

    /// The address visitors see, for links and as the issuer of tokens; the listening address if
    /// not given. A room may name another issuer.
    #[arg(long, env = "VESTIBULE_PUBLIC_URL", value_name = "URL")]
    pub public_url: Option<String>,

    /// Show the documentation of the API at /docs, too. Visitors have no use for it, so it is not there unless
    /// asked for; /openapi.json always is.
    #[arg(
        long,
        env = "VESTIBULE_DOCS",
        value_parser = BoolishValueParser::new()
    )]
    pub docs: bool,

    /// How many leading bits of an IPv4 address name a network, for limits per network.
    #[arg(
        long,
        env = "VESTIBULE_NETWORK_PREFIX_V4",
        value_name = "BITS",
        default_value_t = NetworkPrefixes::default().v4,
        value_parser = clap::value_parser!(u8).range(8..=32)
    )]
    pub network_prefix_v4: u8,

    /// And of an IPv6 address.
    #[arg(
        long,
        env = "VESTIBULE_NETWORK_PREFIX_V6",
        value_name = "BITS",
        default_value_t = NetworkPrefixes::default().v6,
        value_parser = clap::value_parser!(u8).range(16..=128)
    )]
    pub network_prefix_v6: u8,

    /// Waiting pages that get live updates at a time. Further pages are refused and keep polling.
    #[arg(
        long,
        env = "VESTIBULE_MAX_LIVE_UPDATES",
        value_name = "COUNT",
        default_value_t = 10_000
    )]
    pub max_live_updates: usize,

    /// Requests in flight before more are refused with 503 and Retry-After. One whose body has not come
    /// yet does not count: it costs its connection.
    #[arg(
        long,
        env = "VESTIBULE_MAX_REQUESTS_IN_FLIGHT",
        value_name = "COUNT",
        default_value_t = 20_000
    )]
    pub max_requests_in_flight: usize,
}

/// What else to do than serve.
#[derive(Debug, Clone, Copy, Subcommand)]
pub enum Command {
    /// Print the OpenAPI document and exit.
    Openapi,
    /// Ask the running service whether it is ready: exit code 0 if so (for container probes).
    Healthcheck,
}

// === impl Cli ===

impl Cli {
    /// What a network is.
    #[must_use]
    pub fn network_prefixes(&self) -> NetworkPrefixes {
        NetworkPrefixes { v4: self.network_prefix_v4, v6: self.network_prefix_v6 }
    }

    /// The address visitors see.
    ///
    /// # Errors
    /// If what is given is none.
    pub fn public_url(&self) -> Result<String, PublicUrlError> {
        let given = read_public_url(self.public_url.as_deref())?;
        let scheme = if self.common.tls.is_given() { "https" } else { "http" };
        Ok(given.unwrap_or_else(|| format!("{scheme}://{}", self.listen)))
    }
}
