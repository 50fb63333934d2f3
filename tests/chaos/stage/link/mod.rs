//! The link between one process and Redis: a proxy that carries bytes, and that a test can make late,
//! one-way, deaf or half-open, cut, or lead to another server.
//!
//! Why a proxy, and not only the kernel: not every kernel delays packets (`netem` is a module that many
//! machines lack), and none can tell a subscription from other connections. Without rights to make network
//! namespaces the proxy is all there is. What is held up here comes later, as over TCP, and is never lost
//! from the middle of a connection; only a deaf link swallows whole messages.

use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use anyhow::Result;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    task::{AbortHandle, JoinHandle},
    time::{sleep, timeout},
};

/// How often a pump that is held up looks again.
const LOOK: Duration = Duration::from_millis(5);
const CONNECT: Duration = Duration::from_secs(2);
const CHUNK: usize = 64 * 1024;

/// How a link is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each goes wrong by itself")]
pub(crate) struct Weather {
    /// By how much everything is late, each way.
    pub(crate) delay: Duration,
    /// What the process sends stays on the way.
    pub(crate) holds_requests: bool,
    /// What Redis sends stays on the way.
    pub(crate) holds_answers: bool,
    /// What Redis sends to a subscriber is lost.
    pub(crate) is_deaf: bool,
    /// Nobody answers new connections.
    pub(crate) refuses: bool,
}

/// A link. Everything of it ends when it is dropped.
#[derive(Debug)]
pub(crate) struct Link {
    wires: Arc<Wires>,
    address: SocketAddr,
    accepts: JoinHandle<()>,
}

#[derive(Debug)]
struct Wires {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    target: SocketAddr,
    weather: Weather,
    connections: Vec<Connection>,
}

/// A connection of the process: the task that carries it as a whole, and that of its server's half.
#[derive(Debug)]
struct Connection {
    task: AbortHandle,
    server_is_gone: Arc<AtomicBool>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Requests,
    Answers,
}

// === impl Link ===

impl Link {
    /// A link that listens at a free port of `at`'s address (or at its port) and leads to `target`.
    pub(crate) async fn open(at: SocketAddr, target: SocketAddr) -> Result<Self> {
        let listener = TcpListener::bind(at).await?;
        let address = listener.local_addr()?;
        let state = State { target, weather: Weather::default(), connections: Vec::new() };
        let wires = Arc::new(Wires { state: Mutex::new(state) });
        let accepts = tokio::spawn(accept(Arc::clone(&wires), listener));
        Ok(Self { wires, address, accepts })
    }

    /// Where the process connects to.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// New connections go to `target`; those there are stay.
    pub(crate) fn lead_to(&self, target: SocketAddr) {
        self.wires.lock().target = target;
    }

    /// Changes how it is.
    pub(crate) fn change(&self, change: impl FnOnce(&mut Weather)) {
        change(&mut self.wires.lock().weather);
    }

    /// Breaks every connection; both ends are told.
    pub(crate) fn cut(&self) {
        for connection in self.wires.lock().connections.drain(..) {
            connection.task.abort();
        }
    }

    /// Closes every connection at the server, and leaves the process to find out.
    pub(crate) fn forget_at_server(&self) {
        for connection in &self.wires.lock().connections {
            connection.server_is_gone.store(true, Relaxed);
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.accepts.abort();
        self.cut();
    }
}

// === impl Wires ===

impl Wires {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn weather(&self) -> Weather {
        self.lock().weather
    }

    /// Waits until what goes this way may go on.
    async fn lets_through(&self, way: Way, since_late: Duration) {
        sleep(since_late).await;
        while match way {
            Way::Requests => self.weather().holds_requests,
            Way::Answers => self.weather().holds_answers,
        } {
            sleep(LOOK).await;
        }
    }
}

async fn accept(wires: Arc<Wires>, listener: TcpListener) {
    while let Ok((client, _)) = listener.accept().await {
        let mut state = wires.lock();
        if state.weather.refuses {
            continue;
        }
        state.connections.retain(|connection| !connection.task.is_finished());
        let server_is_gone = Arc::new(AtomicBool::new(false));
        let carried = carry(Arc::clone(&wires), client, state.target, Arc::clone(&server_is_gone));
        let task = tokio::spawn(carried).abort_handle();
        state.connections.push(Connection { task, server_is_gone });
    }
}

/// Carries a connection until one end closes it.
async fn carry(wires: Arc<Wires>, client: TcpStream, target: SocketAddr, gone: Arc<AtomicBool>) {
    wires.lets_through(Way::Requests, Duration::ZERO).await;
    let Ok(Ok(server)) = timeout(CONNECT, TcpStream::connect(target)).await else { return };
    // They only make it faster.
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let subscribes = AtomicBool::new(false);
    let requests = pump(&wires, Way::Requests, (from_client, to_server), &subscribes, &gone);
    let answers = pump(&wires, Way::Answers, (from_server, to_client), &subscribes, &gone);
    tokio::select! {
        biased;
        () = requests => {}
        () = answers => {}
    }
}

async fn pump(
    wires: &Wires,
    way: Way,
    (mut from, to): (OwnedReadHalf, OwnedWriteHalf),
    subscribes: &AtomicBool,
    gone: &AtomicBool,
) {
    let mut to = Some(to);
    let mut chunk = vec![0; CHUNK];
    loop {
        let read = timeout(LOOK * 10, from.read(&mut chunk)).await;
        if gone.load(Relaxed) {
            match way {
                // The server sees the end, and the process goes on talking to nobody.
                Way::Requests => to = None,
                Way::Answers => return std::future::pending().await,
            }
        }
        let Ok(read) = read else { continue };
        let Ok(length @ 1..) = read else { return };
        let weather = wires.weather();
        if way == Way::Requests && is_subscription(&chunk[..length]) {
            subscribes.store(true, Relaxed);
        }
        if way == Way::Answers && weather.is_deaf && subscribes.load(Relaxed) {
            continue;
        }
        wires.lets_through(way, weather.delay).await;
        let Some(to) = &mut to else { continue };
        if to.write_all(&chunk[..length]).await.is_err() {
            return;
        }
    }
}

/// Whether somebody subscribes: pushed messages come on such a connection.
fn is_subscription(request: &[u8]) -> bool {
    let subscribe = b"SUBSCRIBE\r\n";
    request.windows(subscribe.len()).any(|window| window.eq_ignore_ascii_case(subscribe))
}

#[cfg(test)]
mod tests;
