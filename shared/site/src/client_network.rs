//! The network that a client is in: what limits per network count, and what a session may be bound to. Who the client
//! is, behind proxies, is decided elsewhere; and an address in the clear is kept nowhere.

use std::net::IpAddr;

use ipnet::{IpNet, Ipv4Net, Ipv6Net};

use crate::ipv4_within::{ipv4_within, is_private_v4};

/// How many leading bits of an address name its network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NetworkPrefixes {
    /// Of an IPv4 address, 8 to 32.
    pub v4: u8,
    /// Of an IPv6 address, 16 to 128.
    pub v6: u8,
}

/// The network of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ClientNetwork(IpNet);

// === impl NetworkPrefixes ===

impl Default for NetworkPrefixes {
    /// What one line of an ordinary customer has at most: 256 addresses of IPv4, and a /56 of IPv6 (RFC 6177).
    fn default() -> Self {
        Self { v4: 24, v6: 56 }
    }
}

// === impl ClientNetwork ===

impl ClientNetwork {
    /// The network of the client at `address`. An IPv4 address that is written as one of IPv6 is one of IPv4. The
    /// unspecified address (`::`) is of all clients whose own is not known.
    #[must_use]
    pub fn of(address: IpAddr, prefixes: NetworkPrefixes) -> Self {
        let network: IpNet = match ipv4_within(address) {
            IpAddr::V4(address) => Ipv4Net::new_assert(address, prefixes.v4.min(32)).into(),
            // Each has nothing in common with its neighbours: see `is_private`.
            IpAddr::V6(address) if address.is_unspecified() || address.is_loopback() => {
                Ipv6Net::new_assert(address, 128).into()
            }
            IpAddr::V6(address) => Ipv6Net::new_assert(address, prefixes.v6.min(128)).into(),
        };
        Self(network.trunc())
    }

    /// Whether addresses of it are those of a host in a private place: of a proxy that has not said whom it speaks for,
    /// or of an operator's own network.
    #[must_use]
    pub fn is_private(&self) -> bool {
        match self.0.addr() {
            IpAddr::V4(address) => is_private_v4(address),
            IpAddr::V6(address) => {
                address.is_loopback()
                    || address.is_unique_local()
                    || address.is_unicast_link_local()
            }
        }
    }

    /// Its bytes: the kind of address, how many bits name it, and they.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let (kind, octets) = match self.0.network() {
            IpAddr::V4(address) => (4, address.octets().to_vec()),
            IpAddr::V6(address) => (6, address.octets().to_vec()),
        };
        [vec![kind, self.0.prefix_len()], octets].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(address: &str) -> ClientNetwork {
        ClientNetwork::of(address.parse().unwrap(), NetworkPrefixes::default())
    }

    #[test]
    fn neighbours_are_in_one_network() {
        let pairs = [
            ("203.0.113.9", "203.0.113.250", true),
            ("203.0.113.9", "203.0.114.9", false),
            ("::ffff:203.0.113.9", "203.0.113.10", true),
            ("2001:db8:0:1200::1", "2001:db8:0:12ff:ffff::1", true),
            ("2001:db8:0:1200::1", "2001:db8:0:1300::1", false),
            ("64:ff9b::203.0.113.9", "203.0.113.10", true),
            ("64:ff9b::203.0.113.9", "64:ff9b::198.51.100.7", false),
            ("::ffff:0:203.0.113.9", "203.0.113.10", true),
            ("2002:cb00:7109::1", "203.0.113.10", true),
            ("2002:cb00:7109:100::1", "2002:cb00:7109:ffff::2", true),
            ("2002:cb00:7109::1", "2002:c633:6407::1", false),
        ];
        for (one, other, same) in pairs {
            assert_eq!(network(one) == network(other), same, "{one} {other}");
            assert_eq!(network(one).to_bytes() == network(other).to_bytes(), same);
        }
    }

    #[test]
    fn private_places_are_known() {
        for address in ["127.0.0.1", "::1", "10.2.3.4", "192.168.0.1", "fd00::1", "fe80::1"] {
            assert!(network(address).is_private(), "{address}");
        }
        for address in ["203.0.113.9", "2001:db8::1", "100.64.0.1", "172.32.0.1"] {
            assert!(!network(address).is_private(), "{address}");
        }
    }

    #[test]
    fn nobody_is_private_by_an_address_within_its_own() {
        for address in [
            "64:ff9b::10.0.0.1",
            "64:ff9b::127.0.0.1",
            "64:ff9b::169.254.0.1",
            "::ffff:0:192.168.0.1",
            "2002:a00:1::1",
            "2002:7f00:1::1",
            "::10.0.0.1",
            "::203.0.113.9",
        ] {
            assert!(!network(address).is_private(), "{address}");
        }
        assert!(network("::ffff:10.0.0.1").is_private(), "as sockets of both families write it");
    }

    #[test]
    fn those_of_whom_no_address_is_known_are_one_network_with_limits() {
        for v6 in [16, 56, 128] {
            let of = |address: &str| {
                let prefixes = NetworkPrefixes { v6, ..NetworkPrefixes::default() };
                ClientNetwork::of(address.parse().unwrap(), prefixes)
            };
            assert!(!of("::").is_private() && of("::1").is_private());
            assert!(of("::") != of("::1") && of("::") != of("::203.0.113.9"));
        }
    }
}
