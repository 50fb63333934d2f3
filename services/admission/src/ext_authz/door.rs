//! Who may speak to the gRPC listener: trusted proxies, so many connections at a time, and each has to begin with HTTP/2
//! soon. Anybody else is gone before HTTP/2 begins. What a connection may do afterwards is in [`super::run`].

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use axum::serve::Listener;
use futures_util::{Stream, stream};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    time::Instant,
};
use vestibule_runtime::{Sparingly, TrustedProxies};

use super::{
    connection::Connection,
    metrics::{GrpcMetrics, Refused},
};

/// How often it is logged that connections are refused.
const SAY_REFUSED: Duration = Duration::from_mins(1);

/// What is asked of those who connect.
#[derive(Debug, Clone)]
pub(crate) struct GrpcLimits {
    /// Connections at a time.
    pub(crate) connections: usize,
    /// Who may connect.
    pub(crate) proxies: TrustedProxies,
    /// How long a connection may take to begin with HTTP/2.
    pub(crate) head: Duration,
}

/// Lets gateways in.
#[derive(Debug)]
pub(crate) struct Door {
    listener: TcpListener,
    limits: GrpcLimits,
    places: Arc<Semaphore>,
    metrics: GrpcMetrics,
    refused: Sparingly,
}

// === impl Door ===

impl Door {
    /// For those who connect to `listener`.
    pub(crate) fn new(listener: TcpListener, limits: GrpcLimits, metrics: GrpcMetrics) -> Self {
        let places = Arc::new(Semaphore::new(limits.connections));
        let refused = Sparingly::new(SAY_REFUSED);
        Self { listener, limits, places, metrics, refused }
    }

    /// Those who are let in, one after the other.
    pub(super) fn incoming(self) -> impl Stream<Item = io::Result<Connection<TcpStream>>> {
        stream::unfold(self, async |mut door| Some((Ok(door.next().await), door)))
    }

    /// The next one who is let in. Whoever is not is closed at once.
    async fn next(&mut self) -> Connection<TcpStream> {
        loop {
            let (stream, peer) = Listener::accept(&mut self.listener).await;
            match self.admit(stream, peer) {
                Ok(connection) => return connection,
                Err(reason) => self.note(peer, reason),
            }
        }
    }

    fn admit(&self, stream: TcpStream, peer: SocketAddr) -> Result<Connection<TcpStream>, Refused> {
        if !self.limits.proxies.contains(peer.ip()) {
            return Err(Refused::Stranger);
        }
        let place = Arc::clone(&self.places).try_acquire_owned().map_err(|_| Refused::Total)?;
        // A response is one small write, so delaying it to combine writes gains nothing.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "cannot set TCP_NODELAY");
        }
        let place = self.metrics.open(place);
        Ok(Connection::new(stream, place, self.limits.head))
    }

    fn note(&mut self, peer: SocketAddr, reason: Refused) {
        self.metrics.count_refused(reason);
        if let Some(times) = self.refused.note(Instant::now()) {
            tracing::warn!(%peer, ?reason, times, "gRPC connections: refused");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use tokio::{task::JoinHandle, time::timeout};

    use super::*;

    const HEAD: Duration = Duration::from_secs(30);
    const SOON: Duration = Duration::from_secs(5);

    /// A door for the networks, behind which everybody stays who is let in.
    async fn open(proxies: &str, connections: usize) -> (SocketAddr, GrpcMetrics, JoinHandle<()>) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let proxies = TrustedProxies::new(&[proxies.parse().unwrap()]);
        let limits = GrpcLimits { connections, proxies, head: HEAD };
        let metrics = GrpcMetrics::default();
        let mut door = Door::new(listener, limits, metrics.clone());
        let task = tokio::spawn(async move {
            let mut inside = Vec::new();
            loop {
                inside.push(door.next().await);
            }
        });
        (address, metrics, task)
    }

    async fn is_closed(stream: &TcpStream) -> bool {
        let is_told = timeout(SOON, stream.readable()).await.is_ok();
        is_told && matches!(stream.try_read(&mut [0]), Ok(0))
    }

    #[tokio::test]
    async fn strangers_are_gone_before_anything_is_said() {
        let (address, metrics, _task) = open("192.0.2.0/24", 1).await;
        for _ in 0..3 {
            let stream = TcpStream::connect(address).await.unwrap();
            assert!(is_closed(&stream).await);
        }
        assert_eq!((metrics.refused(Refused::Stranger), metrics.refused(Refused::Total)), (3, 0));
    }

    #[tokio::test]
    async fn gateways_have_so_many_connections_and_no_more() {
        let (address, metrics, task) = open("127.0.0.0/8", 2).await;
        let _first = TcpStream::connect(address).await.unwrap();
        let _second = TcpStream::connect(address).await.unwrap();
        let third = TcpStream::connect(address).await.unwrap();
        assert!(is_closed(&third).await);
        assert_eq!((metrics.refused(Refused::Total), metrics.open_now()), (1, 2));
        task.abort();
        assert!(task.await.unwrap_err().is_cancelled());
        assert_eq!(metrics.open_now(), 0, "they have gone");
    }
}
