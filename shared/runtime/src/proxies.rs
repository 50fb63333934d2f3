//! The callers that may describe another client's request.

use std::{
    net::{IpAddr, Ipv6Addr, SocketAddr},
    str::FromStr,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::http::HeaderMap;
use ipnet::IpNet;
use tokio::time::Instant;

use crate::Sparingly;

/// Where gateways and load balancers run.
#[derive(Debug, Clone)]
pub struct TrustedProxies {
    networks: Vec<IpNet>,
    unreadable: Arc<Mutex<Sparingly>>,
}

/// A text that names no network.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is neither an address, such as 10.0.0.7, nor a network, such as 10.0.0.0/8")]
pub struct NoNetwork(String);

const FORWARDED_FOR: &str = "x-forwarded-for";
/// How often it is logged that a proxy does not say readably for whom it speaks.
const SAY: Duration = Duration::from_mins(1);
/// The address of a client of whom nobody has said a readable one.
const UNKNOWN: IpAddr = IpAddr::V6(Ipv6Addr::UNSPECIFIED);

// === impl TrustedProxies ===

/// Addresses and networks, separated by commas; an empty text trusts nobody.
impl FromStr for TrustedProxies {
    type Err = NoNetwork;

    fn from_str(text: &str) -> Result<Self, NoNetwork> {
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        let network = |part: &str| {
            let network = part.parse().or_else(|_| part.parse::<IpAddr>().map(IpNet::from));
            network.map_err(|_| NoNetwork(part.to_owned()))
        };
        Ok(Self::new(&parts.map(network).collect::<Result<Vec<_>, _>>()?))
    }
}

impl TrustedProxies {
    /// These networks.
    #[must_use]
    pub fn new(networks: &[IpNet]) -> Self {
        let unreadable = Arc::new(Mutex::new(Sparingly::new(SAY)));
        Self { networks: networks.to_vec(), unreadable }
    }

    /// Whether `address` is one of them.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.networks.iter().any(|network| network.contains(&address))
    }

    /// The visitor's address: the first address that is no trusted proxy, from `peer` backwards through
    /// `X-Forwarded-For`. Earlier entries come from that address itself and are not trusted. Behind an entry of a proxy
    /// that cannot be read may be anybody: that is the unspecified address (`::`), and not the proxy's, which limits
    /// per network may not hold for.
    #[must_use]
    pub fn client(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        let lines = headers.get_all(FORWARDED_FOR).iter().rev();
        let entries = lines.flat_map(|line| line.to_str().unwrap_or("").rsplit(','));
        let mut nearest = peer.to_canonical();
        for entry in entries {
            if !self.contains(nearest) {
                break;
            }
            let Some(address) = address(entry) else {
                self.note_unreadable(peer);
                return UNKNOWN;
            };
            nearest = address.to_canonical();
        }
        nearest
    }

    /// Without the entry: it may be whatever a visitor has sent.
    fn note_unreadable(&self, peer: IpAddr) {
        let mut unreadable = self.unreadable.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(times) = unreadable.note(Instant::now()) {
            tracing::warn!(%peer, times, "a proxy's X-Forwarded-For has no address that can be read");
        }
    }
}

/// An entry of `X-Forwarded-For`: an address, perhaps with a port, and written in any of the ways in which balancers do.
fn address(entry: &str) -> Option<IpAddr> {
    let entry = entry.trim().trim_matches('"');
    if let Ok(with_port) = entry.parse::<SocketAddr>() {
        return Some(with_port.ip());
    }
    let entry = entry.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(entry);
    // The zone of an address of IPv6 says by which interface it is reached.
    entry.split_once('%').map_or(entry, |(address, _)| address).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(peer: &str, forwarded: &[&'static str]) -> String {
        let proxies =
            TrustedProxies::new(&["10.0.0.0/8".parse().unwrap(), "::1/128".parse().unwrap()]);
        let mut headers = HeaderMap::new();
        for line in forwarded {
            headers.append(FORWARDED_FOR, axum::http::HeaderValue::from_static(line));
        }
        proxies.client(peer.parse().unwrap(), &headers).to_string()
    }

    #[test]
    fn addresses_and_networks_are_named_side_by_side_or_nobody_is() {
        let proxies: TrustedProxies = "10.0.0.7, 192.168.0.0/16 ,::1,".parse().unwrap();
        let trusts = |address: &str| proxies.contains(address.parse().unwrap());
        assert!(
            trusts("10.0.0.7") && trusts("192.168.3.4") && trusts("::1") && !trusts("10.0.0.8")
        );
        let nobody: TrustedProxies = " ".parse().unwrap();
        assert!(!nobody.contains("127.0.0.1".parse().unwrap()));
        let refused = "10.0.0.7,gateway".parse::<TrustedProxies>().unwrap_err().to_string();
        assert!(refused.starts_with("`gateway` is neither an address"), "{refused}");
    }

    #[test]
    fn the_nearest_that_is_no_proxy_is_the_visitor() {
        assert_eq!(client("10.0.0.1", &[]), "10.0.0.1");
        assert_eq!(client("10.0.0.1", &["203.0.113.9"]), "203.0.113.9");
        assert_eq!(client("10.0.0.1", &["203.0.113.9, 10.2.3.4"]), "203.0.113.9");
        assert_eq!(client("::1", &["203.0.113.9", "10.2.3.4:555"]), "203.0.113.9");
        assert_eq!(client("::ffff:10.0.0.1", &["[2001:db8::9]:80"]), "2001:db8::9");
        assert_eq!(client("10.0.0.1", &["::ffff:203.0.113.9"]), "203.0.113.9");
        for written in ["2001:db8::9", "[2001:db8::9]", "\"[2001:db8::9]:80\"", "2001:db8::9%eth0"]
        {
            assert_eq!(client("10.0.0.1", &[written]), "2001:db8::9", "{written}");
        }
    }

    #[test]
    fn what_a_visitor_says_about_itself_counts_for_nothing() {
        assert_eq!(client("10.0.0.1", &["10.9.9.9, 203.0.113.9"]), "203.0.113.9");
        assert_eq!(client("203.0.113.9", &["10.9.9.9"]), "203.0.113.9");
    }

    #[test]
    fn whom_a_proxy_speaks_for_unreadably_is_not_the_proxy() {
        for told in ["198.51.100.1, ", "unknown", "unix:", "", "198.51.100.1,", "x, 10.2.3.4"] {
            assert_eq!(client("10.0.0.1", &[told]), "::", "{told:?}");
        }
        assert_eq!(client("10.0.0.1", &["203.0.113.9", ""]), "::", "the last line is the nearest");
        assert_eq!(client("203.0.113.9", &["unknown"]), "203.0.113.9", "nobody trusts it");
        assert_eq!(client("10.0.0.1", &["unknown, 203.0.113.9"]), "203.0.113.9");
    }
}
