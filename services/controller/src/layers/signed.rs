//! Finds out who has signed a request, as clients of AWS sign what they send to its gateways. The rules are
//! [`vestibule_token::Authorization`]'s. The body is read here, because it is signed, and goes on with the request.

use std::time::{SystemTime, UNIX_EPOCH};

use axum::{
    body::Body,
    extract::{OriginalUri, Request},
    http::{
        HeaderMap, Uri,
        header::{AUTHORIZATION, HOST},
        request::Parts,
    },
};
use vestibule_runtime::extract::read_body;
use vestibule_token::{Authorization, SigV4Error, SignedRequest};

use super::{origin::Origin, refusal::Refusal};
use crate::{access::Caller, state::Controller, tokens::FoundSigners};

/// What a proxy says instead of the `Host` that it was called by.
const FORWARDED_HOST: &str = "x-forwarded-host";

/// Whether a request is meant to be signed, rightly or not.
pub(super) fn is_meant(headers: &HeaderMap) -> bool {
    authorization(headers).is_some_and(Authorization::is_meant)
}

/// Who has signed the request, and the request.
pub(super) async fn signer(
    controller: &Controller,
    origin: Origin,
    request: Request,
) -> Result<(Caller, Request), Refusal> {
    let (parts, body) = request.into_parts();
    let text = authorization(&parts.headers).unwrap_or_default();
    let authorization = Authorization::parse(text).map_err(Refusal::Signature)?;
    let (hosts, headers) = (hosts(controller, origin, &parts), headers(&parts.headers));
    let uri = original_uri(&parts);
    let signed = SignedRequest {
        method: parts.method.as_str(),
        path: uri.path(),
        query: uri.query().unwrap_or_default(),
        hosts: &hosts,
        headers: &headers,
    };
    let checked = authorization.check(&signed, &controller.sigv4_region, wall_clock());
    checked.map_err(Refusal::Signature)?;
    let keys = match controller.tokens.find_signers(authorization.key_id()).await {
        FoundSigners::Keys(keys) => keys,
        FoundSigners::NotYet => return Err(Refusal::NotYet),
    };
    let body = read_body(body).await.map_err(Refusal::Body)?;
    let mut refused = SigV4Error::UnknownKey;
    let mut caller = None;
    for (whose, key) in keys {
        match authorization.verify(&signed, &body, &key) {
            Ok(()) => caller = Some(whose),
            Err(error) => refused = error,
        }
    }
    let caller = caller.ok_or(Refusal::Signature(refused))?;
    Ok((caller, Request::from_parts(parts, Body::from(body))))
}

fn authorization(headers: &HeaderMap) -> Option<&str> {
    headers.get(AUTHORIZATION)?.to_str().ok()
}

/// The address as it was sent: routes know it without `/api`.
fn original_uri(parts: &Parts) -> &Uri {
    parts.extensions.get::<OriginalUri>().map_or(&parts.uri, |OriginalUri(uri)| uri)
}

/// What may have been signed as `host`: what was sent, and what a proxy was called by that is trusted.
fn hosts<'a>(controller: &Controller, origin: Origin, parts: &'a Parts) -> Vec<&'a str> {
    let of = |name: &str| parts.headers.get(name).and_then(|host| host.to_str().ok());
    let forwarded = of(FORWARDED_HOST).filter(|_| controller.proxies.contains(origin.peer));
    // Of several proxies the first was called by the client.
    let forwarded = forwarded.and_then(|hosts| hosts.split(',').next()).map(str::trim);
    of(HOST.as_str()).into_iter().chain(forwarded).collect()
}

/// The other headers, but for those that are no text: these nobody signs.
fn headers(headers: &HeaderMap) -> Vec<(&str, &str)> {
    let texts = headers.iter().filter(|(name, _)| **name != HOST);
    texts.filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?))).collect()
}

/// Unix seconds.
#[expect(
    clippy::disallowed_methods,
    reason = "signers go by the time of day, not by Redis's clock"
)]
pub(super) fn wall_clock() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}
