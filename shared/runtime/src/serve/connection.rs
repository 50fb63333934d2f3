//! One connection, from its first byte to its end.
//!
//! hyper speaks HTTP; this decides how long a connection may go without a request. It differs
//! from `axum::serve` where a public server needs it: a connection that never asks for anything
//! (browsers open them in advance) is not kept for ever and does not hold up the stop, and one that asks
//! no more makes room for others. Timers are per connection, not per request: one for every request, as
//! hyper's `header_read_timeout` is, would cost more than the rest of this crate, and it counts the time
//! between requests as part of the head.

use std::{net::SocketAddr, pin::pin, sync::Arc, time::Duration};

use axum::Router;
use hyper::{Request, body::Incoming, server::conn::http1, service::Service};
use hyper_util::rt::TokioIo;
use prometheus_client::metrics::counter::Counter;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
    time::{Instant, sleep, timeout},
};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use super::{
    activity::{Activity, Patience, Silence},
    answering::{AnswerBody, Answering},
    heard::Heard,
    receiving::Receiving,
};
use crate::tls::ClientCertificate;

/// How long the stop waits for the first request of a new connection, once a part of it has come.
const FIRST_REQUEST_AT_STOP: Duration = Duration::from_millis(250);

/// Bytes of a request's head. Gateways take heads of 32 KB, and add to them what they ask about.
const MAX_HEAD: usize = 40 << 10;

/// Bytes that hyper reads ahead, of heads and of bodies. It keeps a buffer that has grown for as long as the connection
/// lasts, and what it has by default makes an idle one cost half a megabyte.
const MAX_READ: usize = MAX_HEAD;

/// How long the end of a silent connection may take: TLS has a last word, which nobody may be there to take.
const FAREWELL: Duration = Duration::from_secs(1);

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
    activity: Arc<Activity>,
    patience: Patience,
}

/// How TLS is begun on a connection.
pub(super) struct Handshake {
    /// Begins it.
    pub(super) acceptor: TlsAcceptor,
    /// Counts those that do not come about.
    pub(super) failed: Counter,
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
    pub(super) fn new(
        router: Router,
        peer: SocketAddr,
        activity: Arc<Activity>,
        patience: Patience,
    ) -> Self {
        Self { router, peer: Peer(peer), activity, patience }
    }

    /// Serves the stream until the client goes, `stop`, or it is silent for too long, which is what is returned.
    pub(super) async fn run(
        self,
        stream: TcpStream,
        handshake: Option<Handshake>,
        stop: CancellationToken,
    ) -> Option<Silence> {
        let peer = self.peer;
        match handshake {
            None => PEER.scope(peer, self.converse(stream, stop)).await,
            // Its state is larger, and most connections have none.
            Some(handshake) => {
                PEER.scope(peer, Box::pin(self.converse_in_secret(stream, handshake, stop))).await
            }
        }
    }

    /// The same with TLS. The handshake is a part of the first request's head: it has no more time, and the connection
    /// counts, and may be closed for others, from its first moment on.
    async fn converse_in_secret(
        self,
        stream: TcpStream,
        handshake: Handshake,
        stop: CancellationToken,
    ) -> Option<Silence> {
        let shaken = tokio::select! {
            biased;
            shaken = handshake.acceptor.accept(stream) => shaken,
            () = stop.cancelled() => return None,
            silence = silence(&self.activity, self.patience) => return Some(silence),
        };
        match shaken {
            Ok(stream) => {
                let certificate = ClientCertificate::of(stream.get_ref().1);
                certificate.scope(self.converse(stream, stop)).await
            }
            Err(error) => {
                tracing::debug!(peer = %self.peer.0, %error, "no TLS came about");
                handshake.failed.inc();
                None
            }
        }
    }

    pub(super) async fn converse<S>(self, stream: S, stop: CancellationToken) -> Option<Silence>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let (activity, patience) = (Arc::clone(&self.activity), self.patience);
        let stream = TokioIo::new(Heard::new(stream, Arc::clone(&activity)));
        // Answers are small: copied into one buffer they cost one plain write.
        let mut http = http1::Builder::new();
        http.writev(false).max_buf_size(MAX_READ).max_header_size(MAX_HEAD);
        let http = http.serve_connection(stream, self);
        let mut http = pin!(http);
        let silence = tokio::select! {
            biased;
            // How it ended is between hyper and the client.
            _ = &mut http => return None,
            () = stop.cancelled() => None,
            silence = silence(&activity, patience) => Some(silence),
        };
        if let Some(silence) = silence {
            // hyper ends what is between requests; it would go on waiting for the first one.
            if activity.requests() > 0 && !matches!(silence, Silence::Body | Silence::Answer) {
                http.as_mut().graceful_shutdown();
                let _ = timeout(FAREWELL, http).await;
            }
            return Some(silence);
        }
        http.as_mut().graceful_shutdown();
        tokio::select! {
            biased;
            _ = http => None,
            silence = silence_at_stop(&activity, patience) => silence,
        }
    }
}

impl Service<Request<Incoming>> for Connection {
    type Response = axum::http::Response<AnswerBody>;
    type Error = std::convert::Infallible;
    type Future = Answering;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        let under_way = self.activity.begin();
        let request = request.map(|body| Receiving::new(body, &self.activity));
        let answer = tower::Service::call(&mut self.router.clone(), request);
        Answering::new(answer, under_way)
    }
}

/// Ends when the stop waits no longer: if no first request has come, which hyper would wait for, or if the connection is
/// silent for too long.
async fn silence_at_stop(activity: &Activity, patience: Patience) -> Option<Silence> {
    sleep(FIRST_REQUEST_AT_STOP).await;
    if activity.requests() == 0 {
        return None;
    }
    Some(silence(activity, patience).await)
}

/// Ends when the connection has been silent for too long. It looks now and then, so a silence that began since the
/// last look is noticed up to half of its time late.
async fn silence(activity: &Activity, patience: Patience) -> Silence {
    let pause = patience.head.min(patience.stall) / 2;
    loop {
        let now = Instant::now();
        let wait = match activity.silent_at(&patience) {
            Some((end, silence)) if end <= now => return silence,
            Some((end, _)) => pause.min(end - now),
            None => pause,
        };
        sleep(wait).await;
    }
}
