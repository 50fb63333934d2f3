//! A way to a server on which one side may vanish without a word: from then on nothing is carried, and
//! nothing is closed, as when a cable is cut or a firewall forgets a connection.

use std::{
    net::Ipv4Addr,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
};

use anyhow::Result;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    task::{JoinHandle, JoinSet},
};

const BUFFER_BYTES: usize = 16 * 1024;

/// A proxy before one server. It ends with its last owner.
#[derive(Debug)]
pub struct FrozenProxy {
    port: u16,
    state: Arc<State>,
    task: JoinHandle<()>,
}

#[derive(Debug, Default)]
struct State {
    frozen: AtomicBool,
    /// How often it was frozen: a connection lives until the next time.
    freezes: AtomicUsize,
    /// Connections that it has taken so far.
    accepted: AtomicUsize,
}

// === impl FrozenProxy ===

impl FrozenProxy {
    /// A proxy before the server at `server`, as `host:port`.
    pub async fn start(server: &str) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let port = listener.local_addr()?.port();
        let state = Arc::new(State::default());
        let task = tokio::spawn(accept(listener, server.to_owned(), Arc::clone(&state)));
        Ok(Self { port, state, task })
    }

    /// Its address, as `host:port`.
    #[must_use]
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// How many connections it has taken so far.
    #[must_use]
    pub fn accepted(&self) -> usize {
        self.state.accepted.load(SeqCst)
    }

    /// What is open stays open and carries nothing any more, now and for ever. New connections work
    /// again after [`Self::thaw`].
    pub fn freeze(&self) {
        self.state.frozen.store(true, SeqCst);
        self.state.freezes.fetch_add(1, SeqCst);
    }

    /// New connections are carried again. What comes on the frozen ones is lost.
    pub fn thaw(&self) {
        self.state.frozen.store(false, SeqCst);
    }
}

impl Drop for FrozenProxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn accept(listener: TcpListener, server: String, state: Arc<State>) {
    let mut connections = JoinSet::new();
    while let Ok((client, _)) = listener.accept().await {
        state.accepted.fetch_add(1, SeqCst);
        let (server, state) = (server.clone(), Arc::clone(&state));
        connections.spawn(async move { carry(client, &server, &state).await });
    }
}

async fn carry(client: TcpStream, server: &str, state: &State) {
    let freezes = state.freezes.load(SeqCst);
    let Ok(server) = TcpStream::connect(server).await else { return };
    let ((from_client, to_client), (from_server, to_server)) =
        (client.into_split(), server.into_split());
    tokio::select! {
        biased;
        () = forward(from_client, to_server, state, freezes) => {}
        () = forward(from_server, to_client, state, freezes) => {}
    }
}

/// Carries until one side closes. Whoever finds the proxy frozen holds its connection for ever.
async fn forward(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, state: &State, freezes: usize) {
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        let read = from.read(&mut buffer).await;
        if state.frozen.load(SeqCst) || state.freezes.load(SeqCst) != freezes {
            std::future::pending::<()>().await;
        }
        match read {
            Ok(1..) => {}
            _ => return,
        }
        let read = read.unwrap_or_default();
        if to.write_all(&buffer[..read]).await.is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    async fn echo() -> Result<String> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?.to_string();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                tokio::spawn(async move {
                    let (mut from, mut to) = stream.split();
                    let _ = tokio::io::copy(&mut from, &mut to).await;
                });
            }
        });
        Ok(address)
    }

    async fn ask(stream: &mut TcpStream) -> Result<u8> {
        stream.write_all(b"x").await?;
        Ok(timeout(Duration::from_millis(300), stream.read_u8()).await??)
    }

    #[tokio::test]
    async fn a_frozen_connection_is_silent_and_a_new_one_works() -> Result<()> {
        let proxy = FrozenProxy::start(&echo().await?).await?;
        let mut first = TcpStream::connect(proxy.address()).await?;
        assert_eq!(ask(&mut first).await?, b'x');
        let mut silent = TcpStream::connect(proxy.address()).await?;
        assert_eq!(ask(&mut silent).await?, b'x');
        proxy.freeze();
        assert!(ask(&mut first).await.is_err(), "it is carried");
        proxy.thaw();
        assert!(ask(&mut silent).await.is_err(), "it was not frozen");
        assert!(ask(&mut first).await.is_err(), "it stays as it is");
        let mut second = TcpStream::connect(proxy.address()).await?;
        assert_eq!((ask(&mut second).await?, proxy.accepted()), (b'x', 3));
        Ok(())
    }
}
