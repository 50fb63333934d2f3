//! HTTP servers within the life of the process.
//!
//! The caller binds, so that an address in use is found before anything else starts. How a single connection
//! lives is in [`mod@self::connection`], and which of them have a place in [`mod@self::roster`].

mod activity;
mod answering;
mod connection;
mod connection_metrics;
mod heard;
mod limits;
mod receiving;
mod roster;

use std::{net::SocketAddr, sync::Arc};

use axum::{Router, serve::Listener};
use tokio::{
    net::{TcpListener, TcpStream},
    task::{Id, JoinError, JoinSet},
    time::{Duration, Instant},
};
use tokio_util::sync::CancellationToken;

pub(crate) use self::limits::ADMIN_CONNECTIONS;
use self::{
    activity::{Activity, Silence},
    connection::{Connection, Handshake},
    roster::{Room, Roster},
};
pub use self::{connection::Peer, connection_metrics::ConnectionMetrics, limits::ConnectionLimits};
use crate::{
    admin,
    lifecycle::{Lifecycle, Stage},
    metrics::Registry,
    sparingly::Sparingly,
    tls::Tls,
};

/// How often it is logged that connections are refused.
const SAY_REFUSED: Duration = Duration::from_mins(1);

/// An address cannot be listened on.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on {address}")]
pub struct BindError {
    address: SocketAddr,
    source: std::io::Error,
}

/// Binds an address, naming it in the error.
///
/// # Errors
/// If the address is taken or not ours.
pub async fn bind(address: SocketAddr) -> Result<TcpListener, BindError> {
    TcpListener::bind(address).await.map_err(|source| BindError { address, source })
}

/// Serves a router until the soft stop, then finishes the requests under way. With `tls`, it speaks nothing else.
///
/// Returns at once; the server is one of the tasks that the lifecycle watches.
pub fn serve(
    listener: TcpListener,
    router: Router,
    limits: ConnectionLimits,
    metrics: ConnectionMetrics,
    tls: Option<Tls>,
    lifecycle: &Lifecycle,
) {
    let stop = lifecycle.soft().clone();
    if let Some(tls) = tls.clone() {
        let (stop, failed) = (stop.clone(), metrics.tls_reloads_failed.clone());
        lifecycle.spawn("certificate files", async move {
            tokio::select! {
                biased;
                () = stop.cancelled() => {}
                () = tls.follow(failed) => {}
            }
        });
    }
    let server = Server { tls, ..Server::new(router, limits, metrics, stop) };
    lifecycle.supervise(Stage::Server, "server", server.run(listener));
}

/// Runs a server of another kind, which ends by itself after the soft stop, when it has finished
/// the requests under way.
///
/// Returns at once; the server is one of the tasks that the lifecycle watches.
pub fn serve_task(
    name: &'static str,
    server: impl Future<Output = ()> + Send + 'static,
    lifecycle: &Lifecycle,
) {
    lifecycle.supervise(Stage::Server, name, server);
}

/// Serves [`admin::router`] until the very end, so that probes see the drain.
pub fn serve_admin(listener: TcpListener, registry: Arc<Registry>, lifecycle: &Lifecycle) {
    let router = admin::router(lifecycle.readiness().clone(), registry);
    let stop = lifecycle.hard().clone();
    let metrics = ConnectionMetrics::default();
    let server = Server::new(router, ConnectionLimits::few(), metrics, stop);
    lifecycle.supervise(Stage::Last, "admin server", server.run(listener));
}

/// One listening address.
struct Server {
    router: Router,
    limits: ConnectionLimits,
    roster: Roster,
    connections: JoinSet<Option<Silence>>,
    metrics: ConnectionMetrics,
    tls: Option<Tls>,
    refused: Sparingly,
    stop: CancellationToken,
}

// === impl Server ===

impl Server {
    fn new(
        router: Router,
        limits: ConnectionLimits,
        metrics: ConnectionMetrics,
        stop: CancellationToken,
    ) -> Self {
        Self {
            // Finishes the routes here, once, instead of on every request.
            router: router.with_state(()),
            roster: Roster::new(limits.clone(), Instant::now()),
            limits,
            connections: JoinSet::new(),
            metrics,
            tls: None,
            refused: Sparingly::new(SAY_REFUSED),
            stop,
        }
    }

    /// Accepts until the stop, then waits for the connections. Dropped, it drops them all.
    async fn run(mut self, mut listener: TcpListener) {
        let stop = self.stop.clone();
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => break,
                Some(ended) = self.connections.join_next_with_id() => self.note_end(ended),
                (stream, peer) = Listener::accept(&mut listener), if self.roster.accepts() => {
                    self.take(stream, peer);
                }
            }
        }
        drop(listener);
        while let Some(ended) = self.connections.join_next_with_id().await {
            self.note_end(ended);
        }
    }

    /// Serves the connection if there is room for it, and closes it otherwise.
    fn take(&mut self, stream: TcpStream, peer: SocketAddr) {
        let now = Instant::now();
        match self.roster.find_room(peer.ip(), now) {
            Ok(Room::Free) => {}
            Ok(Room::Made) => self.metrics.count_room_made(),
            Err(full) => {
                self.metrics.count_refused(full);
                if let Some(times) = self.refused.note(now) {
                    tracing::warn!(%peer, ?full, times, "too many connections: refused");
                }
                return;
            }
        }
        let activity = Arc::new(Activity::new(now));
        let patience = self.limits.patience_with(peer.ip());
        let connection =
            Connection::new(self.router.clone(), peer, Arc::clone(&activity), patience);
        let handshake = self.tls.as_ref().map(|tls| Handshake {
            acceptor: tls.acceptor(),
            failed: self.metrics.tls_handshakes_failed.clone(),
        });
        let task = handle(connection, stream, handshake, self.stop.child_token());
        let task = self.connections.spawn(task);
        self.roster.add(task, peer.ip(), activity);
        self.metrics.open.inc();
        self.metrics.accepted.inc();
    }

    fn note_end(&mut self, ended: Result<(Id, Option<Silence>), JoinError>) {
        let (id, silence) = match ended {
            Ok(ended) => ended,
            // It was closed to make room, or a handler has panicked.
            Err(error) => (error.id(), None),
        };
        self.roster.remove(id);
        self.metrics.open.dec();
        if let Some(silence) = silence {
            self.metrics.count_silent(silence);
        }
    }
}

async fn handle(
    connection: Connection,
    stream: TcpStream,
    handshake: Option<Handshake>,
    stop: CancellationToken,
) -> Option<Silence> {
    // A response is one small write, so delaying it to combine writes gains nothing.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "cannot set TCP_NODELAY");
    }
    connection.run(stream, handshake, stop).await
}

#[cfg(test)]
mod tests;
