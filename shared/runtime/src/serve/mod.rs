//! HTTP servers within the life of the process.
//!
//! The caller binds, so that an address in use is found before anything else starts. The limits of a
//! single connection are in [`mod@self::connection`].

mod connection;

use std::{net::SocketAddr, sync::Arc};

use axum::{Router, serve::Listener};
use tokio::{
    net::{TcpListener, TcpStream},
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;

use self::connection::Connection;
pub use self::connection::Peer;
use crate::{
    admin,
    lifecycle::{Lifecycle, Stage},
    metrics::Registry,
};

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

/// Serves a router until the soft stop, then finishes the requests under way.
///
/// Returns at once; the server is one of the tasks that the lifecycle watches.
pub fn serve(listener: TcpListener, router: Router, lifecycle: &Lifecycle) {
    let stop = lifecycle.soft().clone();
    lifecycle.supervise(Stage::Server, "server", run(listener, router, stop));
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
    lifecycle.supervise(Stage::Last, "admin server", run(listener, router, stop));
}

/// Accepts until `stop`, then waits for the connections. Dropped, it drops them all.
async fn run(mut listener: TcpListener, router: Router, stop: CancellationToken) {
    // Finishes the routes here, once, instead of on every request.
    let router = router.with_state(());
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            biased;
            () = stop.cancelled() => break,
            (stream, peer) = Listener::accept(&mut listener) => {
                connections.spawn(handle(stream, peer, router.clone(), stop.child_token()));
            }
            // Removes connections that have ended.
            Some(_) = connections.join_next() => {}
        }
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}

async fn handle(stream: TcpStream, peer: SocketAddr, router: Router, stop: CancellationToken) {
    // A response is one small write, so delaying it to combine writes gains nothing.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "cannot set TCP_NODELAY");
    }
    Connection::new(router, peer).run(stream, stop).await;
}

#[cfg(test)]
mod tests;
