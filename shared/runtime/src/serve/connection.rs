//! One connection, from its first byte to its end.
//!
//! hyper speaks HTTP; this decides how long a connection may go without a request. It differs
//! from `axum::serve` where a public server needs it: a connection that never asks for anything
//! (browsers open them in advance) is not kept for ever and does not hold up the stop. Time is
//! looked at per connection, not per request: a timer for every request would cost more than the
//! rest of this crate.

use std::{
    convert::Infallible,
    net::SocketAddr,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    time::Duration,
};

use axum::{Router, response::Response, routing::future::RouteFuture};
use hyper::{Request, body::Incoming, server::conn::http1, service::Service};
use hyper_util::rt::TokioIo;
use tokio::{net::TcpStream, time::sleep};
use tokio_util::sync::CancellationToken;

/// How long a new connection may take to send its first request's head.
const FIRST_REQUEST: Duration = Duration::from_secs(30);

/// How long a connection may be silent between requests.
///
/// Longer than any gateway keeps its connections (the longest known is ten minutes): if we closed
/// one while the gateway sends on it, a visitor would get an error.
const IDLE: Duration = Duration::from_secs(620);

/// How long the stop waits for the first request of a new connection.
const FIRST_REQUEST_AT_STOP: Duration = Duration::from_millis(250);

tokio::task_local! {
    /// The peer of the connection's task, in which all of its requests are answered. An extension would
    /// cost every request, even those that never read it.
    static PEER: Peer;
}

/// The address at the other end of a request's connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer(pub SocketAddr);

/// What hyper calls for each request of one connection.
#[derive(Debug, Clone)]
pub(super) struct Connection {
    router: Router,
    peer: Peer,
    requests: Arc<AtomicU32>,
}

// === impl Peer ===

impl Peer {
    /// The peer of the request that is being answered; `None` outside of [`crate::serve()`] and in tasks that
    /// a handler has spawned.
    #[must_use]
    pub fn current() -> Option<Self> {
        PEER.try_get().ok()
    }
}

// === impl Connection ===

impl Connection {
    pub(super) fn new(router: Router, peer: SocketAddr) -> Self {
        Self { router, peer: Peer(peer), requests: Arc::default() }
    }

    /// Serves the stream until the client goes, it is silent for too long, or `stop`.
    pub(super) async fn run(self, stream: TcpStream, stop: CancellationToken) {
        PEER.scope(self.peer, self.converse(stream, stop)).await;
    }

    async fn converse(self, stream: TcpStream, stop: CancellationToken) {
        let requests = Arc::clone(&self.requests);
        // Answers are small: copied into one buffer they cost one plain write.
        let http = http1::Builder::new().writev(false).serve_connection(TokioIo::new(stream), self);
        let mut http = pin!(http);
        tokio::select! {
            biased;
            // How it ended is between hyper and the client.
            _ = &mut http => return,
            () = stop.cancelled() => {}
            () = silence(&requests, FIRST_REQUEST, IDLE) => {}
        }
        http.as_mut().graceful_shutdown();
        // hyper treats a connection without any request as busy.
        if requests.load(Relaxed) == 0 {
            tokio::select! {
                biased;
                _ = &mut http => return,
                () = sleep(FIRST_REQUEST_AT_STOP) => {}
            }
        }
        if requests.load(Relaxed) > 0 {
            let _ = http.await;
        }
    }
}

impl Service<Request<Incoming>> for Connection {
    type Response = Response;
    type Error = Infallible;
    type Future = RouteFuture<Infallible>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        self.requests.fetch_add(1, Relaxed);
        tower::Service::call(&mut self.router.clone(), request)
    }
}

/// Ends when the first request, or a further one, has not come for too long.
async fn silence(requests: &AtomicU32, first: Duration, idle: Duration) {
    sleep(first).await;
    let mut before = 0;
    loop {
        let now = requests.load(Relaxed);
        if now == before {
            return;
        }
        before = now;
        sleep(idle).await;
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::timeout;

    use super::*;

    const SHORT: Duration = Duration::from_millis(20);
    const LONG: Duration = Duration::from_secs(5);

    async fn ends(requests: &AtomicU32, first: Duration, idle: Duration) -> bool {
        timeout(SHORT * 10, silence(requests, first, idle)).await.is_ok()
    }

    #[tokio::test]
    async fn a_connection_must_ask_for_something_soon() {
        assert!(ends(&AtomicU32::new(0), SHORT, LONG).await);
        assert!(!ends(&AtomicU32::new(0), LONG, SHORT).await);
    }

    #[tokio::test]
    async fn then_it_may_be_silent_for_long_but_not_for_ever() {
        assert!(!ends(&AtomicU32::new(1), SHORT, LONG).await);
        assert!(ends(&AtomicU32::new(1), SHORT, SHORT).await);
    }
}
