//! HTTP towards the admission services: the four calls of a visitor, over keep-alive connections
//! that the whole crowd shares. What an answer means for a visitor is `journey`'s business.
//!
//! A load balancer's part is played here too: each call goes to a random service, and one that
//! just broke a connection is left alone for a moment.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use rand::{Rng, rngs::SmallRng};
use reqwest::{
    StatusCode, Url,
    header::{HeaderName, HeaderValue},
};
use tokio::{sync::Semaphore, time::Instant};

use super::answer::{interpret, method};
use crate::{
    crowd::Call,
    http,
    visits::{Outcome, Reply, Way},
};

/// Header that carries a visitor's ticket both ways.
const TICKET: HeaderName = HeaderName::from_static("vestibule-ticket");
/// A call without an answer by then has failed.
const CALL_TIMEOUT: Duration = Duration::from_secs(15);
/// How long a service that broke a connection is left alone.
const SUSPECT_FOR: Duration = Duration::from_secs(2);

const DISCONNECTED: Outcome = Outcome::Broken("disconnected");

/// The crowd's way to the admission services.
#[derive(Debug)]
pub(crate) struct Client {
    http: reqwest::Client,
    services: Vec<Service>,
    start: Instant,
}

/// One admission service.
#[derive(Debug)]
struct Service {
    addresses: [Url; 4],
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
    pub(crate) fn new(bases: &[Url], room: &str, connections: usize) -> anyhow::Result<Self> {
        let services = bases.iter().map(|base| Service::new(base, room, connections));
        Ok(Self {
            http: http::client(CALL_TIMEOUT)?,
            services: services.collect::<anyhow::Result<_>>()?,
            start: Instant::now(),
        })
    }

    /// Waits until every service has heard of the room, as after creating it, or `most` is over.
    pub(crate) async fn await_room(&self, most: Duration) {
        let heard = async {
            for service in &self.services {
                let unknown = Outcome::Refused(StatusCode::NOT_FOUND).error();
                let ask = || self.exchange(service, Call::Status, None);
                while ask().await.0.error() == unknown {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            }
        };
        // A service that stays silent or ignorant shows soon enough, in the report.
        let _ = tokio::time::timeout(most, heard).await;
    }

    /// A random service among those not under suspicion, or among all when all are.
    fn pick(&self, rng: &mut SmallRng) -> &Service {
        let now = self.start.elapsed();
        let first = rng.random_range(0..self.services.len());
        let (before, after) = self.services.split_at(first);
        let mut from_first = after.iter().chain(before);
        from_first.find(|service| !service.is_suspect(now)).unwrap_or(&self.services[first])
    }

    async fn exchange(
        &self,
        service: &Service,
        call: Call,
        ticket: Option<HeaderValue>,
    ) -> (Outcome, Option<HeaderValue>) {
        let request = self.http.request(method(call), service.addresses[call as usize].clone());
        let request = match ticket {
            Some(ticket) => request.header(TICKET, ticket),
            None => request,
        };
        let response = match request.send().await {
            Ok(response) => response,
            Err(error) if error.is_connect() => return (Outcome::Broken("connect"), None),
            Err(error) => return (broken(&error), None),
        };
        let (status, headers) = (response.status(), response.headers().clone());
        let ticket = headers.get(TICKET).cloned();
        // The body is read even when it says nothing new: only then can the connection be kept.
        match http::read(response).await {
            Ok(body) => (interpret(call, status, &headers, &body), ticket),
            Err(error) => (error.downcast().map_or(DISCONNECTED, |e| broken(&e)), ticket),
        }
    }
}

impl Way for Client {
    type Ticket = HeaderValue;

    async fn call(
        &self,
        _: usize,
        call: Call,
        ticket: Option<HeaderValue>,
        rng: &mut SmallRng,
    ) -> Reply<HeaderValue> {
        let service = self.pick(rng);
        let asked = Instant::now();
        let permit = service.connections.acquire().await;
        let sent = Instant::now();
        let (outcome, ticket) = self.exchange(service, call, ticket).await;
        drop(permit);
        if matches!(outcome, Outcome::Broken(_)) {
            service.suspect(self.start.elapsed());
        }
        Reply { outcome, ticket, sent, latency: Some(sent.elapsed()), queued: sent - asked }
    }
}

/// How a connection failed that had been made.
fn broken(error: &reqwest::Error) -> Outcome {
    if error.is_timeout() { Outcome::Broken("timeout") } else { DISCONNECTED }
}

// === impl Service ===

impl Service {
    fn new(base: &Url, room: &str, connections: usize) -> anyhow::Result<Self> {
        let room = http::room_at(base, room);
        let address = |call: Call| format!("{room}/{}", call.name()).parse::<Url>();
        let [join, status, claim, leave] = Call::ALL.map(address);
        Ok(Self {
            addresses: [join?, status?, claim?, leave?],
            connections: Semaphore::new(connections),
            suspect_until: AtomicU64::new(0),
        })
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
        let reply = client.call(0, Call::Join, None, &mut rng).await;
        assert!(matches!(reply.outcome, Outcome::Broken("connect")));
        let now = client.start.elapsed();
        let healthy: Vec<_> = client.services.iter().filter(|d| !d.is_suspect(now)).collect();
        assert_eq!(healthy.len(), 1);
        for _ in 0..20 {
            assert!(std::ptr::eq(client.pick(&mut rng), healthy[0]));
        }
    }
}
