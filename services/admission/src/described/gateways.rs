//! How the authorizer reads what a gateway says of a request.

use std::net::IpAddr;

use axum::http::request::Parts;
use envoy_types::ext_authz::v3::pb::CheckRequest;
use vestibule_runtime::{Peer, TrustedProxies};
use vestibule_site::RequestPath;

use crate::{authorizer::OriginalRequest, endpoints::ENVOY_PREFIX, ext_authz};

/// A gateway's question. Its caller is the [`Peer`] among the extensions.
#[derive(Debug, Clone)]
pub enum Question {
    /// As most gateways ask: `GET /authorize`, with the request in headers.
    Forwarded(Parts),
    /// As Envoy asks over HTTP: its own request, below `/authorize/envoy`.
    Prefixed(Parts),
    /// As Envoy asks by gRPC; the caller is beside it.
    Called(Box<CheckRequest>, Option<Peer>),
}

/// The request that a question is about.
#[derive(Debug, Clone)]
pub struct Described {
    /// Its method.
    pub method: String,
    /// Whether the visitor came over https.
    pub https: bool,
    /// The host that was asked for, perhaps with a port.
    pub authority: String,
    /// Path and query as they were sent.
    pub target: String,
    /// The path, in every reading that servers give it.
    pub path: RequestPath,
    /// The visitor's address.
    pub client: IpAddr,
}

/// Why a question is not answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// Its caller may not ask about other clients' requests.
    Untrusted,
    /// It describes no request, or more than one.
    Unclear,
}

/// Reads a question. Those of `proxies` may ask.
///
/// # Errors
/// See [`Refused`].
pub fn read(question: Question, proxies: &TrustedProxies) -> Result<Described, Refused> {
    let original = match question {
        Question::Forwarded(parts) => OriginalRequest::forwarded(&parts, proxies),
        Question::Prefixed(parts) => OriginalRequest::behind_prefix(&parts, ENVOY_PREFIX, proxies),
        Question::Called(check, peer) => {
            let parts = ext_authz::parts(*check, peer.map(|Peer(address)| address));
            let parts = parts.map_err(|_| Refused::Unclear)?;
            OriginalRequest::behind_prefix(&parts, "", proxies)
        }
    };
    let OriginalRequest { method, https, authority, target, path, client, .. } =
        original.map_err(|problem| match problem.status().as_u16() {
            403 => Refused::Untrusted,
            _ => Refused::Unclear,
        })?;
    Ok(Described { method, https, authority, target, path, client })
}
