//! The callers that may describe another client's request.

use std::net::{IpAddr, SocketAddr};

use axum::http::HeaderMap;
use ipnet::IpNet;

/// Where gateways and load balancers run.
#[derive(Debug, Clone)]
pub struct TrustedProxies(Vec<IpNet>);

const FORWARDED_FOR: &str = "x-forwarded-for";

// === impl TrustedProxies ===

impl TrustedProxies {
    /// These networks.
    #[must_use]
    pub fn new(networks: &[IpNet]) -> Self {
        Self(networks.to_vec())
    }

    /// Whether `address` is one of them.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|network| network.contains(&address))
    }

    /// The visitor's address: the first address that is no trusted proxy, from `peer` backwards through
    /// `X-Forwarded-For`. Earlier entries come from that address itself and are not trusted.
    #[must_use]
    pub fn client(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        let lines = headers.get_all(FORWARDED_FOR).iter().rev();
        let entries = lines.flat_map(|line| line.to_str().unwrap_or("").rsplit(','));
        let mut nearest = peer.to_canonical();
        for entry in entries {
            if !self.contains(nearest) {
                break;
            }
            match address(entry) {
                Some(address) => nearest = address.to_canonical(),
                None => break,
            }
        }
        nearest
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
        assert_eq!(client("10.0.0.1", &["10.9.9.9, nonsense, 10.2.3.4"]), "10.2.3.4");
    }
}
