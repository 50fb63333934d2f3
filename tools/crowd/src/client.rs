//! HTTP towards the admission services: the four calls of a visitor, over keep-alive connections
//! that the whole crowd shares. What an answer means for a visitor is `visitor`'s business.
//!
//! A load balancer's part is played here too: each call goes to a random service, and one that
//! just broke a connection is left alone for a moment.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use http_body_util::{BodyExt, Full, Limited};
use hyper::{
    Request, StatusCode, Uri,
    body::{Bytes, Incoming},
    header::{HeaderName, HeaderValue},
};
use hyper_util::{
    client::legacy::{Client as Pool, connect::HttpConnector},
    rt::{TokioExecutor, TokioTimer},
};
use rand::{Rng, rngs::SmallRng};
use tokio::{sync::Semaphore, time::Instant};

use crate::answer::{Call, Outcome, interpret};

/// Header that carries a visitor's ticket both ways.
const TICKET: HeaderName = HeaderName::from_static("vestibule-ticket");
/// A call without an answer by then has failed.
const CALL_TIMEOUT: Duration = Duration::from_secs(15);
/// How long a service that broke a connection is left alone.
const SUSPECT_FOR: Duration = Duration::from_secs(2);
/// Answers are a few hundred bytes; anything near this is not one of ours.
const LARGEST_ANSWER: usize = 64 * 1024;

/// The HTTP client that everything in this tool shares.
pub(crate) type Http = Pool<HttpConnector, Full<Bytes>>;

/// A call's outcome with what there is to know about it.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    /// What came of it.
    pub(crate) outcome: Outcome,
    /// The newest ticket, when one came along.
    pub(crate) ticket: Option<HeaderValue>,
    /// When the request went out.
    pub(crate) sent: Instant,
    /// From then to the whole answer.
    pub(crate) latency: Duration,
    /// How long the call waited for a free connection before.
    pub(crate) queued: Duration,
}

/// The crowd's way to the admission services.
#[derive(Debug)]
pub(crate) struct Client {
    http: Http,
    doors: Vec<Door>,
    start: Instant,
}

/// One admission service.
#[derive(Debug)]
struct Door {
    uris: [Uri; 4],
    connections: Semaphore,
    /// Milliseconds after the client's start until which the service is left alone.
    suspect_until: AtomicU64,
}

// === impl Client ===

impl Client {
    /// A client of `room` at these services, with so many connections to each.
    ///
    /// # Errors
    /// When a base address and the room do not make a valid address.
    pub(crate) fn new(bases: &[Uri], room: &str, connections: usize) -> anyhow::Result<Self> {
        let doors = bases.iter().map(|base| Door::new(base, room, connections));
        Ok(Self {
            http: http(),
            doors: doors.collect::<anyhow::Result<_>>()?,
            start: Instant::now(),
        })
    }

    /// Makes one call; every failure is an outcome.
    pub(crate) async fn call(
        &self,
        call: Call,
        ticket: Option<HeaderValue>,
        rng: &mut SmallRng,
    ) -> Reply {
        let door = self.pick(rng);
        let asked = Instant::now();
        let permit = door.connections.acquire().await;
        let sent = Instant::now();
        let exchange = self.exchange(door.request(call, ticket), call);
        let (outcome, ticket) = tokio::time::timeout(CALL_TIMEOUT, exchange)
            .await
            .unwrap_or((Outcome::Broken("timeout"), None));
        drop(permit);
        if matches!(outcome, Outcome::Broken(_)) {
            door.suspect(self.start.elapsed());
        }
        Reply { outcome, ticket, sent, latency: sent.elapsed(), queued: sent - asked }
    }

    /// Waits until every service has heard of the room, as after creating it, or `most` is over.
    pub(crate) async fn await_room(&self, most: Duration) {
        let heard = async {
            for door in &self.doors {
                let unknown = Outcome::Refused(StatusCode::NOT_FOUND).error();
                let ask = || self.exchange(door.request(Call::Status, None), Call::Status);
                while ask().await.0.error() == unknown {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            }
        };
        // A service that stays silent or ignorant shows soon enough, in the report.
        let _ = tokio::time::timeout(most, heard).await;
    }

    /// A random service among those not under suspicion, or among all when all are.
    fn pick(&self, rng: &mut SmallRng) -> &Door {
        let now = self.start.elapsed();
        let first = rng.random_range(0..self.doors.len());
        let (before, after) = self.doors.split_at(first);
        let mut from_first = after.iter().chain(before);
        from_first.find(|door| !door.is_suspect(now)).unwrap_or(&self.doors[first])
    }

    async fn exchange(
        &self,
        request: Request<Full<Bytes>>,
        call: Call,
    ) -> (Outcome, Option<HeaderValue>) {
        let response = match self.http.request(request).await {
            Ok(response) => response,
            Err(error) if error.is_connect() => return (Outcome::Broken("connect"), None),
            Err(_) => return (Outcome::Broken("disconnected"), None),
        };
        let (head, body) = response.into_parts();
        let ticket = head.headers.get(TICKET).cloned();
        // The body is read even when it says nothing new: only then can the connection be kept.
        match read(body).await {
            Some(body) => (interpret(call, head.status, &head.headers, &body), ticket),
            None => (Outcome::Broken("disconnected"), ticket),
        }
    }
}

/// A client with a keep-alive pool; its users bound the number of connections.
pub(crate) fn http() -> Http {
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    connector.set_connect_timeout(Some(Duration::from_secs(5)));
    Pool::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(Duration::from_secs(30))
        .build(connector)
}

/// The whole body, unless the connection broke or the body is far too long.
pub(crate) async fn read(body: Incoming) -> Option<Bytes> {
    Some(Limited::new(body, LARGEST_ANSWER).collect().await.ok()?.to_bytes())
}

// === impl Door ===

impl Door {
    fn new(base: &Uri, room: &str, connections: usize) -> anyhow::Result<Self> {
        let base = base.to_string();
        let base = base.trim_end_matches('/');
        let uri = |call: Call| format!("{base}/v1/rooms/{room}/{}", call.name()).parse::<Uri>();
        let [join, status, claim, leave] = Call::ALL.map(uri);
        Ok(Self {
            uris: [join?, status?, claim?, leave?],
            connections: Semaphore::new(connections),
            suspect_until: AtomicU64::new(0),
        })
    }

    fn request(&self, call: Call, ticket: Option<HeaderValue>) -> Request<Full<Bytes>> {
        let mut request = Request::new(Full::default());
        *request.method_mut() = call.method();
        *request.uri_mut() = self.uris[call as usize].clone();
        if let Some(ticket) = ticket {
            request.headers_mut().insert(TICKET, ticket);
        }
        request
    }

    fn is_suspect(&self, now: Duration) -> bool {
        u128::from(self.suspect_until.load(Ordering::Relaxed)) > now.as_millis()
    }

    fn suspect(&self, now: Duration) {
        let until = u64::try_from((now + SUSPECT_FOR).as_millis()).unwrap_or(u64::MAX);
        self.suspect_until.store(until, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    #[tokio::test]
    async fn leaves_a_broken_service_alone() {
        // Ports 1 and 2 refuse connections wherever tests run unprivileged services.
        let bases = ["http://127.0.0.1:1", "http://127.0.0.1:2"].map(|u| u.parse().unwrap());
        let client = Client::new(&bases, "demo", 1).unwrap();
        let mut rng = SmallRng::seed_from_u64(1);
        let reply = client.call(Call::Join, None, &mut rng).await;
        assert!(matches!(reply.outcome, Outcome::Broken("connect")));
        let now = client.start.elapsed();
        let healthy: Vec<_> = client.doors.iter().filter(|d| !d.is_suspect(now)).collect();
        assert_eq!(healthy.len(), 1);
        for _ in 0..20 {
            assert!(std::ptr::eq(client.pick(&mut rng), healthy[0]));
        }
    }
}
