//! The options that say how many connections the public address takes, and how long silent ones are kept.

use std::{num::NonZeroUsize, time::Duration};

use clap::Args;

use crate::{
    descriptors,
    proxies::TrustedProxies,
    serve::{ADMIN_CONNECTIONS, ConnectionLimits},
};

/// Most connections when nothing else is said: several gigabytes of memory, if all of them are used.
const MOST: usize = 100_000;

/// Connections and files besides those of the public address and of the admin server: Redis, Envoy, logs.
const OTHERS: usize = 64;

/// Most connections of a listener for gateways alone.
const MOST_OF_GATEWAYS: usize = 1_024;

/// How many connections the public address takes.
#[derive(Debug, Clone, Args)]
pub struct ConnectionOptions {
    /// Gateways and load balancers: addresses and networks, separated by commas, whose word about other requests
    /// counts, such as X-Forwarded-For and what /authorize is told. Empty: nobody's.
    ///
    /// Their connections stand for many visitors: they are not counted by address, and are kept for 620
    /// seconds of silence. Let gateways keep theirs for less.
    #[arg(
        long,
        env = "VESTIBULE_TRUSTED_PROXIES",
        value_name = "NETWORKS",
        default_value = "127.0.0.0/8,::1/128"
    )]
    pub trusted_proxies: TrustedProxies,

    /// Connections at a time. When there are so many, the one that has been idle for longest makes room; if
    /// none is idle, further ones are refused.
    ///
    /// If not given: as many as the process may have files open (its hard limit, `ulimit -Hn`), less a sixteenth, or
    /// at least 96, for Redis, probes and the like; and 100,000 at most.
    #[arg(long, env = "VESTIBULE_MAX_CONNECTIONS", value_name = "COUNT")]
    pub max_connections: Option<NonZeroUsize>,

    /// Connections at a time of one address, or one /64 of IPv6; trusted proxies have no such limit.
    ///
    /// If not given, half of all: no address can take every place, and whoever sits behind one address
    /// with many others (a company, a mobile network, a balancer that is not among the trusted proxies) finds one.
    #[arg(long, env = "VESTIBULE_MAX_CONNECTIONS_PER_ADDRESS", value_name = "COUNT")]
    pub max_connections_per_address: Option<NonZeroUsize>,

    /// Seconds that the head of a request may take; the first one's begins with the connection.
    #[arg(
        long,
        env = "VESTIBULE_HEAD_TIMEOUT_SECONDS",
        value_name = "SECONDS",
        default_value_t = 30,
        value_parser = clap::value_parser!(u32).range(1..=3_600)
    )]
    pub head_timeout_seconds: u32,

    /// Seconds that the body of a request may take, and for which a client may take nothing of an answer.
    #[arg(
        long,
        env = "VESTIBULE_STALL_TIMEOUT_SECONDS",
        value_name = "SECONDS",
        default_value_t = 60,
        value_parser = clap::value_parser!(u32).range(1..=3_600)
    )]
    pub stall_timeout_seconds: u32,

    /// Seconds that a connection may be idle between requests; of trusted proxies at least 620.
    #[arg(
        long,
        env = "VESTIBULE_IDLE_TIMEOUT_SECONDS",
        value_name = "SECONDS",
        default_value_t = 75,
        value_parser = clap::value_parser!(u32).range(1..=86_400)
    )]
    pub idle_timeout_seconds: u32,
}

/// More connections are asked for than the process may have.
#[derive(Debug, thiserror::Error)]
#[error(
    "VESTIBULE_MAX_CONNECTIONS: {asked} connections do not fit. This process may have {allowed} files and \
     connections open and needs {reserve} of them for other things. Let it have more (`ulimit -Hn`, \
     LimitNOFILE= of systemd, --ulimit nofile= of Docker), or say {most} or less"
)]
pub struct TooManyConnections {
    asked: usize,
    allowed: usize,
    reserve: usize,
    most: usize,
}

// === impl ConnectionOptions ===

impl ConnectionOptions {
    /// The gateways and load balancers.
    #[must_use]
    pub fn proxies(&self) -> TrustedProxies {
        self.trusted_proxies.clone()
    }

    /// The limits of the public address. Takes as many descriptors as the system gives.
    ///
    /// # Errors
    /// If more connections are asked for than fit.
    pub fn limits(&self) -> Result<ConnectionLimits, TooManyConnections> {
        self.limits_of(descriptors::available())
    }

    /// Connections at a time of a listener for gateways alone, of those that the public address leaves.
    #[must_use]
    pub fn of_gateways(&self) -> usize {
        of_gateways(descriptors::available())
    }

    fn limits_of(&self, allowed: usize) -> Result<ConnectionLimits, TooManyConnections> {
        let reserve = reserve(allowed);
        let most = allowed - reserve;
        let total = match self.max_connections.map(NonZeroUsize::get) {
            Some(asked) if asked > most => {
                return Err(TooManyConnections { asked, allowed, reserve, most });
            }
            Some(asked) => asked,
            None => most.min(MOST),
        };
        let half = total.div_ceil(2);
        Ok(ConnectionLimits {
            total,
            per_address: self.max_connections_per_address.map_or(half, NonZeroUsize::get),
            head: Duration::from_secs(self.head_timeout_seconds.into()),
            stall: Duration::from_secs(self.stall_timeout_seconds.into()),
            idle: Duration::from_secs(self.idle_timeout_seconds.into()),
            proxies: self.proxies(),
        })
    }
}

/// How many of `allowed` descriptors are kept back.
fn reserve(allowed: usize) -> usize {
    (ADMIN_CONNECTIONS + OTHERS).max(allowed / 16).min(allowed / 2)
}

/// A quarter of what is kept back: the admin server has its part of the rest, too.
fn of_gateways(allowed: usize) -> usize {
    (reserve(allowed) / 4).clamp(1, MOST_OF_GATEWAYS)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Cli {
        #[command(flatten)]
        connections: ConnectionOptions,
    }

    fn limits(
        allowed: usize,
        arguments: &[&str],
    ) -> Result<ConnectionLimits, Box<dyn std::error::Error>> {
        let cli = Cli::try_parse_from([&["test"], arguments].concat())?;
        Ok(cli.connections.limits_of(allowed)?)
    }

    #[test]
    fn what_is_not_said_follows_from_the_descriptors() {
        for (allowed, total) in [(256, 160), (1_024, 928), (64, 32), (usize::MAX, MOST)] {
            let limits = limits(allowed, &[]).unwrap();
            assert_eq!((limits.total, limits.per_address), (total, total / 2), "{allowed}");
        }
        let limits = limits(1_024, &[]).unwrap();
        let times = (limits.head, limits.idle);
        assert_eq!(times, (Duration::from_secs(30), Duration::from_secs(75)));
        assert!(limits.proxies.contains([127, 0, 0, 1].into()));
    }

    #[test]
    fn gateways_have_a_part_of_what_is_kept_back() {
        for (allowed, most) in [(64, 8), (1_024, 24), (4_096, 64), (usize::MAX, MOST_OF_GATEWAYS)] {
            assert_eq!(of_gateways(allowed), most, "{allowed}");
        }
    }

    #[test]
    fn what_is_said_holds_if_it_fits() {
        let few = ["--max-connections", "100", "--max-connections-per-address", "7"];
        let few = limits(1_024, &few).unwrap();
        assert_eq!((few.total, few.per_address), (100, 7));
        let error = limits(1_024, &["--max-connections", "929"]).unwrap_err().to_string();
        assert!(error.contains("VESTIBULE_MAX_CONNECTIONS: 929") && error.contains("928 or less"));
        for wrong in
            ["--max-connections", "--max-connections-per-address", "--idle-timeout-seconds"]
        {
            assert!(limits(1_024, &[wrong, "0"]).is_err(), "{wrong}");
        }
    }
}
