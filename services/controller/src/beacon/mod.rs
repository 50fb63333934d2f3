//! Asking a public randomness beacon (drand) for one round of its chain, and when its rounds are published, over HTTP or
//! HTTPS.
//!
//! Responses are not trusted: a round counts only if its signature is genuine, so any relay may
//! answer. No redirect is followed, at most [`LARGEST_ANSWER`] bytes are read, and beacons in private networks are asked
//! only if an option says so: operators name them, and need not see what the controllers do. Other modules decide when and
//! how often to ask, and what a draw does without a round.

use std::{net::IpAddr, time::Duration};

use http_body_util::{BodyExt, Empty, Limited};
use hyper::{Response, StatusCode, Uri, body::Bytes};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use serde::{Deserialize, de::DeserializeOwned};
use thiserror::Error;
use url::{Host, Url};
use vestibule_domain::{
    draw::{BeaconOutcome, Seed, from_hex, to_hex},
    schedule::{Beacon, RoundClock},
    webhook::{is_public, may_connect},
};
use vestibule_token::beacon::{self, BeaconError};

use crate::webhooks::CheckedResolver;

/// The largest answer that is read, in bytes: a real one has a few hundred.
const LARGEST_ANSWER: usize = 16 * 1024;
/// How long an answer may take.
const TIMEOUT: Duration = Duration::from_secs(5);

const NO_ADDRESS: &str = "is no address that can be asked";
const NOT_PUBLIC: &str = "is not a public address: `VESTIBULE_PRIVATE_BEACONS` of the controllers allows beacons in \
                          private networks";

/// Asks beacons; cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct BeaconClient {
    http: Client<HttpsConnector<HttpConnector<CheckedResolver>>, Empty<Bytes>>,
    /// Whether a beacon may be at this address.
    may_ask: fn(IpAddr) -> bool,
    timeout: Duration,
}

/// The result of one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum BeaconReply {
    /// The round, and its signature is genuine.
    Verified(Round),
    /// The beacon says that the round is not published yet.
    NotYet,
    /// Anything else. Asking again, or at another address, may help.
    Wrong(BeaconFailure),
}

/// A genuine round of a beacon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Round {
    /// What goes into the draw.
    pub(crate) randomness: Seed,
    /// The round's signature, in hex.
    pub(crate) signature: String,
    /// The signature of the round before, in hex, if the chain signs it too.
    pub(crate) previous_signature: Option<String>,
}

/// Why an answer cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum BeaconFailure {
    /// The beacon's address is not one that is asked.
    #[error("{0}")]
    Address(&'static str),
    /// No connection, or it broke.
    #[error("cannot reach the beacon: {0}")]
    Unreachable(String),
    /// Nothing came in time.
    #[error("no answer within {0:?}")]
    Silent(Duration),
    /// A status other than the round's, 404 and 425.
    #[error("the beacon answered {0}")]
    Status(StatusCode),
    /// Not the JSON of a round or a chain, or too long.
    #[error("the answer cannot be read: {0}")]
    Body(String),
    /// What it tells of its chain cannot be used.
    #[error("what it tells of its chain {0}")]
    Chain(&'static str),
    /// Another round than the one that was asked for.
    #[error("the answer is round {0}")]
    OtherRound(u64),
    /// The randomness does not follow from the signature.
    #[error("the randomness does not follow from the signature")]
    Randomness,
    /// The signature is not genuine.
    #[error(transparent)]
    Signature(#[from] BeaconError),
}

/// A round as drand writes it.
#[derive(Debug, Deserialize)]
struct PublishedRound {
    round: u64,
    randomness: String,
    signature: String,
    previous_signature: Option<String>,
}

/// What drand tells of a chain.
#[derive(Debug, Deserialize)]
struct ChainInfo {
    public_key: String,
    /// Seconds.
    period: u64,
    /// Unix seconds.
    genesis_time: u64,
}

// === impl BeaconClient ===

impl BeaconClient {
    /// A client that also asks beacons in private networks, if they are `private_too`.
    #[must_use]
    pub(crate) fn new(private_too: bool) -> Self {
        let may_ask: fn(IpAddr) -> bool =
            if private_too { |address| may_connect(address, true) } else { is_public };
        let mut tcp = HttpConnector::new_with_resolver(CheckedResolver::new(may_ask));
        tcp.enforce_http(false);
        let connector = HttpsConnectorBuilder::new().with_webpki_roots().https_or_http();
        let connector = connector.enable_http1().wrap_connector(tcp);
        // No connection is kept: a beacon is asked a few times a day.
        let client =
            Client::builder(TokioExecutor::new()).pool_max_idle_per_host(0).build(connector);
        Self { http: client, may_ask, timeout: TIMEOUT }
    }

    /// Asks for the beacon's round, once.
    pub(crate) async fn ask(&self, beacon: &Beacon) -> BeaconReply {
        let asked = tokio::time::timeout(self.timeout, self.fetch(beacon)).await;
        match asked.unwrap_or(Err(BeaconFailure::Silent(self.timeout))) {
            Ok(Some(published)) => check(beacon.clone(), published).await,
            Ok(None) => BeaconReply::NotYet,
            Err(reason) => BeaconReply::Wrong(reason),
        }
    }

    /// When the rounds of the beacon are published. It is asked only for a chain that is not known anyway.
    ///
    /// # Errors
    /// Why that is not to be had.
    pub(crate) async fn round_clock(&self, beacon: &Beacon) -> Result<RoundClock, BeaconFailure> {
        if let Some(clock) = RoundClock::of_key(&beacon.public_key) {
            return Ok(clock);
        }
        let asked = tokio::time::timeout(self.timeout, self.fetch_info(beacon)).await;
        let info = asked.unwrap_or(Err(BeaconFailure::Silent(self.timeout)))?;
        if !info.public_key.eq_ignore_ascii_case(&beacon.public_key) {
            return Err(BeaconFailure::Chain("has another public key"));
        }
        let clock = RoundClock::new(info.genesis_time, info.period);
        clock.ok_or(BeaconFailure::Chain("has no time between rounds"))
    }

    async fn fetch_info(&self, beacon: &Beacon) -> Result<ChainInfo, BeaconFailure> {
        let response = self.get(beacon, "info").await?;
        match response.status() {
            StatusCode::OK => read(response).await,
            status => Err(BeaconFailure::Status(status)),
        }
    }

    /// The round as the beacon publishes it; `None` if it is not published yet.
    async fn fetch(&self, beacon: &Beacon) -> Result<Option<PublishedRound>, BeaconFailure> {
        let response = self.get(beacon, &format!("public/{}", beacon.round)).await?;
        match response.status() {
            StatusCode::OK => read(response).await.map(Some),
            StatusCode::NOT_FOUND | StatusCode::TOO_EARLY => Ok(None),
            status => Err(BeaconFailure::Status(status)),
        }
    }

    async fn get(
        &self,
        beacon: &Beacon,
        path: &str,
    ) -> Result<Response<hyper::body::Incoming>, BeaconFailure> {
        let response = self.http.get(self.address(beacon, path)?).await;
        response.map_err(|error| BeaconFailure::Unreachable(chain(&error)))
    }

    /// Where that is. A name is looked up when it is connected to, and its addresses are checked then.
    fn address(&self, beacon: &Beacon, path: &str) -> Result<Uri, BeaconFailure> {
        let text = format!("{}/{path}", beacon.url.trim_end_matches('/'));
        let url = Url::parse(&text).map_err(|_| BeaconFailure::Address(NO_ADDRESS))?;
        let literal: Option<IpAddr> = match url.host().ok_or(BeaconFailure::Address(NO_ADDRESS))? {
            Host::Domain(_) => None,
            Host::Ipv4(address) => Some(address.into()),
            Host::Ipv6(address) => Some(address.into()),
        };
        if literal.is_some_and(|address| !(self.may_ask)(address)) {
            return Err(BeaconFailure::Address(NOT_PUBLIC));
        }
        url.as_str().parse().map_err(|_| BeaconFailure::Address(NO_ADDRESS))
    }
}

async fn read<T: DeserializeOwned>(
    response: Response<hyper::body::Incoming>,
) -> Result<T, BeaconFailure> {
    let body = Limited::new(response.into_body(), LARGEST_ANSWER).collect().await;
    let body = body.map_err(|error| BeaconFailure::Body(chain(&*error)))?;
    serde_json::from_slice(&body.to_bytes()).map_err(|error| BeaconFailure::Body(error.to_string()))
}

/// Checks the round off the async threads: it takes a few milliseconds of one core.
async fn check(beacon: Beacon, published: PublishedRound) -> BeaconReply {
    let checked = tokio::task::spawn_blocking(move || verified(&beacon, published)).await;
    match checked {
        Ok(Ok(round)) => BeaconReply::Verified(round),
        Ok(Err(reason)) => BeaconReply::Wrong(reason),
        Err(error) => BeaconReply::Wrong(BeaconFailure::Body(error.to_string())),
    }
}

fn verified(beacon: &Beacon, published: PublishedRound) -> Result<Round, BeaconFailure> {
    if published.round != beacon.round {
        return Err(BeaconFailure::OtherRound(published.round));
    }
    // Some relays send an empty previous signature if the chain has none.
    let previous_signature = published.previous_signature.filter(|previous| !previous.is_empty());
    let previous = previous_signature.as_deref();
    let randomness =
        beacon::verify(&beacon.public_key, published.round, &published.signature, previous)?;
    if from_hex(&published.randomness) != Some(randomness) {
        return Err(BeaconFailure::Randomness);
    }
    Ok(Round { randomness, signature: published.signature, previous_signature })
}

/// An error with its causes, because hyper's outermost message is seldom the useful one.
fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    vestibule_runtime::ErrorChain(error).to_string()
}

// === impl Round ===

impl Round {
    /// The outcome for a draw's record.
    #[must_use]
    pub(crate) fn outcome(&self) -> BeaconOutcome {
        BeaconOutcome::Verified {
            signature: self.signature.clone(),
            previous_signature: self.previous_signature.clone(),
            randomness: to_hex(&self.randomness),
        }
    }
}

#[cfg(test)]
mod tests;
