//! Who sends a request: the visitor's address behind trusted proxies, and its network.

use std::net::IpAddr;

use axum::http::{
    Extensions, HeaderMap,
    header::{ACCEPT_LANGUAGE, USER_AGENT},
};
use vestibule_runtime::{Peer, TrustedProxies};
use vestibule_site::{ClientNetwork, NetworkPrefixes};

use crate::flows::RoomContext;

/// How clients are told apart.
#[derive(Debug, Clone)]
pub(crate) struct Clients {
    /// Whose word about other clients counts.
    pub(crate) proxies: TrustedProxies,
    /// What a network is.
    pub(crate) prefixes: NetworkPrefixes,
}

// === impl Clients ===

impl Clients {
    /// The network of whoever sent a request with these parts; `None`: its connection is not known.
    fn network_of(&self, extensions: &Extensions, headers: &HeaderMap) -> Option<ClientNetwork> {
        let peer = extensions.get().copied().or_else(Peer::current);
        peer.map(|Peer(peer)| self.network(self.proxies.client(peer.ip(), headers)))
    }

    /// Notes in `room` who sent a request with these parts.
    pub(crate) fn identify(
        &self,
        room: &mut RoomContext,
        extensions: &Extensions,
        headers: &HeaderMap,
    ) {
        room.caller.network = self.network_of(extensions, headers);
        room.caller.agent = headers.get(USER_AGENT).cloned();
        room.caller.languages = headers.get(ACCEPT_LANGUAGE).cloned();
    }

    /// The network of the client at `address`.
    pub(crate) fn network(&self, address: IpAddr) -> ClientNetwork {
        ClientNetwork::of(address, self.prefixes)
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn network(forwarded: &'static str) -> ClientNetwork {
        let proxies = TrustedProxies::new(&["10.0.0.0/8".parse().unwrap()]);
        let clients = Clients { proxies, prefixes: NetworkPrefixes::default() };
        let mut extensions = Extensions::new();
        extensions.insert(Peer("10.0.0.1:443".parse().unwrap()));
        let mut headers = HeaderMap::new();
        headers.insert("x-forwarded-for", HeaderValue::from_static(forwarded));
        clients.network_of(&extensions, &headers).unwrap()
    }

    #[test]
    fn whoever_comes_by_an_unreadable_entry_has_limits() {
        for told in ["198.51.100.1, ", "unknown", "unix:", ""] {
            let unknown = network(told);
            assert!(!unknown.is_private() && unknown == network("unknown"), "{told:?}");
        }
        assert!(network("10.2.3.4").is_private(), "a proxy asks for itself");
        assert_ne!(network("unknown"), network("198.51.100.1"));
        assert_eq!(network("64:ff9b::198.51.100.1"), network("198.51.100.7"));
    }
}
