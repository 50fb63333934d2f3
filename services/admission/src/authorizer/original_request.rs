//! The request that a gateway asks about, as the gateway describes it. Each fact is read from exactly
//! one header, which the gateway always overwrites. Other headers of the visitor are ignored, and a
//! header that is there twice is refused.

use std::net::{IpAddr, Ipv6Addr};

use axum::http::{HeaderMap, Method, request::Parts};
use vestibule_runtime::{
    Peer, TrustedProxies,
    problem::{Problem, ProblemType},
};
use vestibule_site::{Headers, Host, PathError, Request, RequestPath, without_port};

use crate::extractors::{Asked, AskedBy};

const METHOD: &str = "x-forwarded-method";
const PROTO: &str = "x-forwarded-proto";
const FORWARDED_HOST: &str = "x-forwarded-host";
const URI: &str = "x-forwarded-uri";
const FORWARDED_FOR: &str = "x-forwarded-for";

/// The request that is decided about.
#[derive(Debug, Clone)]
pub(crate) struct OriginalRequest {
    /// Its method.
    pub(crate) method: String,
    /// Whether the visitor came over https.
    pub(crate) https: bool,
    /// The host that was asked for, perhaps with a port.
    pub(crate) authority: String,
    /// Path and query as they were sent.
    pub(crate) target: String,
    /// The path, in every reading that servers give it.
    pub(crate) path: RequestPath,
    /// The visitor's address.
    pub(crate) client: IpAddr,
    /// Whether the gateway tells it. Otherwise it is the gateway's, of which no rule speaks.
    is_client_told: bool,
}

/// The headers of a request, as bypass rules read them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HeaderFacts<'a>(pub(crate) &'a HeaderMap);

// === impl OriginalRequest ===

impl OriginalRequest {
    /// As most gateways describe it: `X-Forwarded-Method`, `-Proto`, `-Host` and `-Uri`.
    ///
    /// # Errors
    /// 403 for a caller who is no trusted proxy; 400 that names each header that is missing, there
    /// twice, or wrong.
    pub(crate) fn forwarded(parts: &Parts, proxies: &TrustedProxies) -> Result<Self, Problem> {
        let client = client(parts, proxies)?;
        let headers = &parts.headers;
        let (target, path) = target(one(headers, URI)?)?;
        Ok(Self {
            method: method(one(headers, METHOD)?)?,
            https: is_https(one(headers, PROTO)?)?,
            authority: authority(headers, FORWARDED_HOST)?,
            target,
            path,
            client,
            is_client_told: headers.contains_key(FORWARDED_FOR),
        })
    }

    /// As Envoy describes it: its own method, `Host` and path, behind `prefix`.
    ///
    /// # Errors
    /// As [`Self::forwarded`].
    pub(crate) fn behind_prefix(
        parts: &Parts,
        prefix: &str,
        proxies: &TrustedProxies,
    ) -> Result<Self, Problem> {
        let client = client(parts, proxies)?;
        let path_and_query = parts.uri.path_and_query().map_or("", |target| target.as_str());
        let https = parts.headers.contains_key(PROTO);
        let (target, path) = target(path_and_query.strip_prefix(prefix).unwrap_or(""))?;
        Ok(Self {
            method: parts.method.as_str().to_owned(),
            https: https && is_https(one(&parts.headers, PROTO)?)?,
            authority: authority(&parts.headers, "host")?,
            target,
            path,
            client,
            is_client_told: parts.headers.contains_key(FORWARDED_FOR),
        })
    }

    /// Whether the request describes another one and its caller is a trusted proxy.
    pub(crate) fn is_forwarded(parts: &Parts, proxies: &TrustedProxies) -> bool {
        parts.headers.contains_key(URI) && client(parts, proxies).is_ok()
    }

    /// The refusal of a request for the sake of its path.
    pub(crate) fn wrong_path(error: PathError) -> Problem {
        Problem::new(ProblemType::InvalidRequest).field(URI, error.to_string())
    }

    /// The query as it was sent, without its question mark.
    pub(crate) fn query(&self) -> &str {
        self.target.split_once('?').map_or("", |(_, query)| query)
    }

    /// The host that was asked for, without its port.
    pub(crate) fn host(&self) -> &str {
        without_port(&self.authority)
    }

    /// The whole address.
    pub(crate) fn url(&self) -> String {
        let scheme = if self.https { "https" } else { "http" };
        format!("{scheme}://{}{}", self.authority, self.target)
    }

    /// The request as a proof of a key must be for it.
    pub(crate) fn asked(&self) -> Asked {
        Asked { method: self.method.clone(), url: self.url(), by: AskedBy::Gateway }
    }

    /// The request as bypass rules read it.
    pub(crate) fn facts<'a>(&'a self, headers: &'a HeaderFacts<'a>) -> Request<'a> {
        Request {
            host: self.host(),
            path: self.path.clone(),
            query: self.query(),
            method: &self.method,
            client: if self.is_client_told { self.client } else { Ipv6Addr::UNSPECIFIED.into() },
            headers,
        }
    }
}

impl Headers for HeaderFacts<'_> {
    fn values(&self, name: &str) -> Vec<&str> {
        let values = self.0.get_all(name).iter();
        values.map(|value| std::str::from_utf8(value.as_bytes()).unwrap_or("")).collect()
    }
}

/// The visitor's address, if the caller is a trusted proxy.
fn client(parts: &Parts, proxies: &TrustedProxies) -> Result<IpAddr, Problem> {
    // gRPC adds its peer to the request. A request without any peer is untrusted.
    let peer = parts.extensions.get().copied().or_else(Peer::current);
    let peer = peer.map(|Peer(address)| address.ip());
    match peer.filter(|peer| proxies.contains(*peer)) {
        Some(peer) => Ok(proxies.client(peer, &parts.headers)),
        None => Err(Problem::new(ProblemType::UntrustedProxy)
            .detail("name the gateway's address in VESTIBULE_TRUSTED_PROXIES")),
    }
}

/// The only value of a header.
fn one<'a>(headers: &'a HeaderMap, name: &'static str) -> Result<&'a str, Problem> {
    let mut values = headers.get_all(name).iter();
    let wrong =
        |reason: &'static str| Problem::new(ProblemType::InvalidRequest).field(name, reason);
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().map_err(|_| wrong("is not printable ASCII")),
        (None, _) => Err(wrong("is missing; the gateway must set it")),
        (Some(_), Some(_)) => Err(wrong("is there more than once; the gateway must replace it")),
    }
}

/// The host that was asked for. One that is none is refused: no room covers it, and some gateways take
/// `shop.example:x` for `shop.example`.
fn authority(headers: &HeaderMap, name: &'static str) -> Result<String, Problem> {
    let text = one(headers, name)?;
    if Host::is_named_by(text) {
        return Ok(text.to_owned());
    }
    let reason = "must be a host name or an address, perhaps with a port";
    Err(Problem::new(ProblemType::InvalidRequest).field(name, reason))
}

fn method(text: &str) -> Result<String, Problem> {
    let known = Method::from_bytes(text.as_bytes());
    known.map(|method| method.as_str().to_owned()).map_err(|_| {
        let wrong = Problem::new(ProblemType::InvalidRequest);
        wrong.field(METHOD, "is not a method")
    })
}

fn is_https(text: &str) -> Result<bool, Problem> {
    match text {
        "https" | "wss" => Ok(true),
        "http" | "ws" => Ok(false),
        _ => Err(Problem::new(ProblemType::InvalidRequest).field(PROTO, "must be http or https")),
    }
}

/// Path and query, and the path by itself.
fn target(text: &str) -> Result<(String, RequestPath), Problem> {
    let path = text.split_once('?').map_or(text, |(path, _)| path);
    if !path.starts_with('/') {
        let reason = "must be a path that starts with /, with its query";
        return Err(Problem::new(ProblemType::InvalidRequest).field(URI, reason));
    }
    let path = RequestPath::parse(path).map_err(OriginalRequest::wrong_path)?;
    Ok((text.to_owned(), path))
}
