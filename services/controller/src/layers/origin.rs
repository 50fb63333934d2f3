//! Where a call comes from.

use std::net::{IpAddr, Ipv4Addr};

use axum::http::HeaderMap;
use vestibule_runtime::Peer;

use crate::state::Controller;

/// Where a call comes from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Origin {
    /// The other end of the connection.
    pub(super) peer: IpAddr,
    /// The one for whom a proxy speaks, or the same.
    pub(super) client: IpAddr,
}

// === impl Origin ===

impl Origin {
    /// That of the call that is being answered.
    pub(super) fn of(controller: &Controller, headers: &HeaderMap) -> Self {
        let peer = Peer::current().map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |peer| peer.0.ip());
        Self { peer, client: controller.proxies.client(peer, headers) }
    }
}
