//! How many connections a server has at a time, and how long it keeps silent ones.

use std::{net::IpAddr, time::Duration};

use super::activity::Patience;
use crate::{holder::holder_of, proxies::TrustedProxies};

/// How many connections a server may have at a time, and how long silent ones are kept.
#[derive(Debug, Clone)]
pub struct ConnectionLimits {
    /// Connections in all.
    pub total: usize,
    /// Connections of one address that is no trusted proxy.
    pub per_address: usize,
    /// How long a request's head may take.
    pub head: Duration,
    /// How long a visitor's connection may be silent between requests.
    pub idle: Duration,
    /// How long a request's body may take, and how long a client may take nothing of an answer.
    pub stall: Duration,
    /// Gateways and load balancers.
    pub proxies: TrustedProxies,
}

/// How long a proxy's connection may be silent between requests.
///
/// Longer than gateways and load balancers keep their connections, ten minutes at most but for Envoy's hour, which its
/// `idle_timeout` shortens: if we closed one while the gateway sends on it, a visitor would get an error.
const IDLE_OF_PROXIES: Duration = Duration::from_secs(620);

/// Connections at a time for probes and Prometheus.
pub(crate) const ADMIN_CONNECTIONS: usize = 32;

// === impl ConnectionLimits ===

impl ConnectionLimits {
    /// For a server that few ask, such as the admin server.
    #[must_use]
    pub fn few() -> Self {
        Self {
            total: ADMIN_CONNECTIONS,
            per_address: ADMIN_CONNECTIONS,
            head: Duration::from_secs(10),
            idle: IDLE_OF_PROXIES,
            stall: Duration::from_secs(10),
            proxies: TrustedProxies::new(&[]),
        }
    }

    /// How long a connection of `peer` may be silent.
    pub(super) fn patience_with(&self, peer: IpAddr) -> Patience {
        let is_proxy = self.proxies.contains(peer);
        let idle = if is_proxy { self.idle.max(IDLE_OF_PROXIES) } else { self.idle };
        Patience { head: self.head, idle, stall: self.stall }
    }

    /// What the connections of `peer` are counted for; `None` for a proxy, which stands for many visitors.
    pub(super) fn counted_for(&self, peer: IpAddr) -> Option<IpAddr> {
        (!self.proxies.contains(peer)).then(|| holder_of(peer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits() -> ConnectionLimits {
        let proxies = TrustedProxies::new(&["10.0.0.0/8".parse().unwrap()]);
        let idle = Duration::from_secs(75);
        ConnectionLimits { idle, proxies, ..ConnectionLimits::few() }
    }

    #[test]
    fn gateways_are_not_counted() {
        let counted = |peer: &str| limits().counted_for(peer.parse().unwrap());
        assert_eq!(counted("203.0.113.9"), counted("::ffff:203.0.113.9"));
        assert_eq!((counted("10.1.2.3"), counted("::ffff:10.1.2.3")), (None, None));
    }

    #[test]
    fn gateways_keep_their_connections_for_longer() {
        assert_eq!(limits().patience_with([203, 0, 113, 9].into()).idle, Duration::from_secs(75));
        assert_eq!(limits().patience_with([10, 0, 0, 1].into()).idle, IDLE_OF_PROXIES);
    }
}
