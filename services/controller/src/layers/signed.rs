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
use vestibule_token::{Authorization, SigV4Error, SigV4Key, SignedRequest};

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
    let in_time = || {
        let region = &controller.sigv4_region;
        authorization.check(&signed, region, wall_clock()).map_err(Refusal::Signature)
    };
    let unknown = || Refusal::Signature(SigV4Error::UnknownKey);
    in_time()?;
    // Nobody's key is not worth a body.
    if keys(controller, &authorization).await?.is_empty() {
        return Err(unknown());
    }
    let body = read_body(body).await.map_err(Refusal::Body)?;
    // Bodies may come slowly: what has expired or was revoked in the meantime counts no more.
    in_time()?;
    let mut refused = unknown();
    for (whose, key) in keys(controller, &authorization).await? {
        match authorization.verify(&signed, &body, &key) {
            Ok(()) => return Ok((whose, Request::from_parts(parts, Body::from(body)))),
            Err(error) => refused = Refusal::Signature(error),
        }
    }
    Err(refused)
}

async fn keys(
    controller: &Controller,
    authorization: &Authorization<'_>,
) -> Result<Vec<(Caller, SigV4Key)>, Refusal> {
    match controller.tokens.find_signers(authorization.key_id()).await {
        FoundSigners::Keys(keys) => Ok(keys),
        FoundSigners::NotYet => Err(Refusal::NotYet),
    }
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
