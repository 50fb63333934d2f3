//! HTTP towards the admission services: the four calls of a visitor, and the AWS-style one that takes a
//! number, over keep-alive connections that everybody who has this client shares. What an answer means for a visitor is `journey`'s business.
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
use serde_json::json;
use tokio::{sync::Semaphore, time::Instant};

use super::{
    answer::{interpret, method},
    senders::sign,
};
use crate::{
    crowd::{Call, Senders},
    http,
    visits::{Outcome, Reply, Way},
};

/// Header that carries a visitor's ticket both ways.
const TICKET: HeaderName = HeaderName::from_static("vestibule-ticket");
/// A call without an answer by then has failed.
const CALL_TIMEOUT: Duration = Duration::from_secs(15);
/// How long a service that broke a connection is left alone.
const SUSPECT_FOR: Duration = Duration::from_secs(2);

/// A connection broke that had been made.
const DISCONNECTED: &str = "disconnected";

/// The crowd's way to the admission services.
#[derive(Debug)]
pub(crate) struct Client {
    http: reqwest::Client,
    room: String,
    services: Vec<Service>,
    senders: Senders,
    start: Instant,
}

/// One admission service.
#[derive(Debug)]
struct Service {
    addresses: [Url; 4],
    /// Where AWS-style clients take a number.
    numbers: Url,
    connections: Semaphore,
    /// Milliseconds after the client's start until which the service is left alone.
    suspect_until: AtomicU64,
}

// === impl Client ===

impl Client {
    /// A client of `room` at these services, with so many connections to each. `senders` is who calls.
    ///
    /// # Errors
    /// When a base address and the room do not make a valid address.
    pub(crate) fn new(
        bases: &[Url],
        room: &str,
        connections: usize,
        senders: Senders,
    ) -> anyhow::Result<Self> {
        let services = bases.iter().map(|base| Service::new(base, room, connections));
        Ok(Self {
            http: http::client(CALL_TIMEOUT)?,
            room: room.to_owned(),
            services: services.collect::<anyhow::Result<_>>()?,
            senders,
            start: Instant::now(),
        })
    }

    /// Waits until every service has heard of the room, as after creating it, or `most` is over.
    pub(crate) async fn await_room(&self, most: Duration) {
        let heard = async {
            for service in &self.services {
                let unknown = Outcome::Refused(StatusCode::NOT_FOUND).error();
                let ask = || self.exchange(service, 0, Call::Status, None);
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
        sender: usize,
        call: Call,
        ticket: Option<HeaderValue>,
    ) -> (Outcome, Option<HeaderValue>) {
        let request = self.http.request(method(call), service.addresses[call as usize].clone());
        let request = sign(&self.senders, sender, request);
        let request = match ticket {
            Some(ticket) => request.header(TICKET, ticket),
            None => request,
        };
        let response = match request.send().await {
            Ok(response) => response,
            Err(error) => return (Outcome::Broken(cause(&error)), None),
        };
        let (status, headers) = (response.status(), response.headers().clone());
        let ticket = headers.get(TICKET).cloned();
        // The body is read even when it says nothing new: only then can the connection be kept.
        match http::read(response).await {
            Ok(body) => (interpret(call, status, &headers, &body), ticket),
            Err(error) => {
                let cause = error.downcast().map_or(DISCONNECTED, |error| cause(&error));
                (Outcome::Broken(cause), ticket)
            }
        }
    }
}

impl Way for Client {
    type Ticket = HeaderValue;

    async fn call(
        &self,
        sender: usize,
        call: Call,
        ticket: Option<HeaderValue>,
        rng: &mut SmallRng,
    ) -> Reply<HeaderValue> {
        let service = self.pick(rng);
        let asked = Instant::now();
        let permit = service.connections.acquire().await;
        let sent = Instant::now();
        let (outcome, ticket) = self.exchange(service, sender, call, ticket).await;
        drop(permit);
        if matches!(outcome, Outcome::Broken(_)) {
            service.suspect(self.start.elapsed());
        }
        Reply { outcome, ticket, sent, latency: Some(sent.elapsed()), queued: sent - asked }
    }

    async fn take_number(&self, rng: &mut SmallRng) -> Result<(), String> {
        let service = self.pick(rng);
        let _permit = service.connections.acquire().await;
        let body = json!({ "event_id": self.room });
        let asked = self.http.post(service.numbers.clone()).json(&body).send().await;
        let response = asked.map_err(|error| cause(&error).to_owned())?;
        let status = response.status();
        let read = http::read(response).await;
        if !status.is_success() {
            return Err(status.as_u16().to_string());
        }
        read.map(drop).map_err(|_| DISCONNECTED.to_owned())
    }
}

/// How a connection failed.
fn cause(error: &reqwest::Error) -> &'static str {
    match error {
        error if error.is_connect() => "connect",
        error if error.is_timeout() => "timeout",
        _ => DISCONNECTED,
    }
}

// === impl Service ===

impl Service {
    fn new(base: &Url, room: &str, connections: usize) -> anyhow::Result<Self> {
        let numbers = http::at(base, "assign_queue_num").parse()?;
        let room = http::room_at(base, room);
        let address = |call: Call| format!("{room}/{}", call.name()).parse::<Url>();
        let [join, status, claim, leave] = Call::ALL.map(address);
        Ok(Self {
            addresses: [join?, status?, claim?, leave?],
            numbers,
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
        let client = Client::new(&bases, "demo", 1, Senders::Untold).unwrap();
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
