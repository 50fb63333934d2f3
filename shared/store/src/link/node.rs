//! The link to one server: one multiplexed connection carries the calls of all tasks until it breaks.
//! There are few calls, because they are batched, so one is enough; taking a connection from a pool for
//! each call would cost a PING each time. Which server that is others decide: see `single`, `sentinel`,
//! `cluster`.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use redis::{Cmd, RedisError, Value, aio::ConnectionLike, aio::MultiplexedConnection};
use tokio::{
    sync::{Mutex, Notify},
    time::Instant,
};

use super::{
    Messages,
    access::Access,
    address::Host,
    failures::leaves_server,
    opener::{Expected, Opener},
    replicated::{Lanes, Shortfalls},
    subscription::{self, Kind},
};

/// One multiplexed connection to one server, opened again when it breaks.
pub(super) struct NodeLink {
    pub(super) host: Host,
    access: Access,
    opener: Arc<Opener>,
    current: Mutex<Current>,
    opened: AtomicU64,
    lanes: OnceLock<Lanes>,
    shortfalls: Arc<Shortfalls>,
    left: Arc<Left>,
    abandoned: Left,
}

#[derive(Default)]
struct Current {
    connection: Option<Connected>,
    /// When the last attempt to connect failed, and how.
    failed: Option<(Instant, RedisError)>,
}

/// An open connection, and which one it is.
#[derive(Clone)]
pub(super) struct Connected {
    id: u64,
    connection: MultiplexedConnection,
}

/// Whether a server was given up for another one.
#[derive(Debug, Default)]
pub(super) struct Left {
    left: AtomicBool,
    notify: Notify,
}

// === impl NodeLink ===

impl NodeLink {
    /// Nothing is connected yet.
    pub(super) fn new(
        host: Host,
        access: &Access,
        expected: Expected,
        shortfalls: &Arc<Shortfalls>,
    ) -> Result<Self, RedisError> {
        Ok(Self {
            opener: Arc::new(Opener::new(&host, access, expected)?),
            host,
            access: access.clone(),
            current: Mutex::default(),
            opened: AtomicU64::new(0),
            lanes: OnceLock::new(),
            shortfalls: Arc::clone(shortfalls),
            left: Arc::default(),
            abandoned: Left::default(),
        })
    }

    /// The current connection, or a new one. If this fails, nothing was asked of the server.
    pub(super) async fn connect(&self) -> Result<Connected, RedisError> {
        let asked_at = Instant::now();
        let mut current = self.current.lock().await;
        if let Some(connection) = &current.connection {
            return Ok(connection.clone());
        }
        // Callers that waited during a failed attempt share its error. If each of many callers tried
        // again in turn, the last one would wait for minutes.
        if let Some((at, error)) = &current.failed
            && *at >= asked_at
        {
            return Err(error.clone());
        }
        match self.opener.open().await {
            Ok(connection) => {
                let id = self.opened.fetch_add(1, Ordering::Relaxed);
                if id > 0 {
                    tracing::info!(server = %self.host, "connected to redis again");
                }
                let connected = Connected { id, connection };
                current.connection = Some(connected.clone());
                Ok(connected)
            }
            Err(error) => {
                current.failed = Some((Instant::now(), error.clone()));
                Err(error)
            }
        }
    }

    /// Sends one command, and drops the connection if it broke.
    pub(super) async fn ask(&self, command: &Cmd) -> Result<Value, RedisError> {
        let connected = self.connect().await?;
        self.ask_on(connected, command, false).await
    }

    /// The same on an open connection. `asking`: about a slot that is on its way to this server.
    pub(super) async fn ask_on(
        &self,
        mut connected: Connected,
        command: &Cmd,
        asking: bool,
    ) -> Result<Value, RedisError> {
        let connection = &mut connected.connection;
        let reply = if asking {
            let mut both = redis::Pipeline::with_capacity(2);
            both.cmd("ASKING").add_command(command.clone());
            let replies = connection.req_packed_commands(&both, 0, 2).await;
            replies.map(|mut replies| replies.pop().unwrap_or(Value::Nil))
        } else {
            connection.req_packed_command(command).await
        };
        let reply = reply.and_then(Value::extract_error);
        self.take_note(connected.id, &reply).await;
        reply
    }

    /// Sends one command on a connection of its own, and waits for replicas if that is asked for.
    pub(super) async fn ask_replicated(
        &self,
        connected: Connected,
        command: &Cmd,
        asking: bool,
    ) -> Result<Value, RedisError> {
        let Some(wait) = self.access.wait else {
            return self.ask_on(connected, command, asking).await;
        };
        let lanes = self
            .lanes
            .get_or_init(|| Lanes::open(&self.opener, self.access.timeout, wait, &self.shortfalls));
        let reply = lanes.ask(command, asking).await;
        self.take_note(connected.id, &reply).await;
        reply
    }

    /// Subscribes on a connection of its own.
    pub(super) async fn subscribe<T: AsRef<str>>(
        &self,
        kind: Kind,
        channels: &[T],
    ) -> Result<Messages, RedisError> {
        let (client, left) = (&self.opener.subscriber, Arc::clone(&self.left));
        let probe = self.opener.expected;
        let ends = async move { left.wait().await };
        subscription::open(client, &self.access, kind, channels, probe, ends).await
    }

    /// Gives this server up for good: its subscriptions end.
    pub(super) fn leave(&self) {
        self.left.set();
    }

    /// The same, and nobody waits for its answers any more.
    pub(super) fn abandon(&self) {
        self.left.set();
        self.abandoned.set();
    }

    /// Completes once [`Self::abandon`] was called.
    pub(super) async fn is_abandoned(&self) {
        self.abandoned.wait().await;
    }

    async fn take_note(&self, id: u64, reply: &Result<Value, RedisError>) {
        if let Err(error) = reply
            && leaves_server(error)
        {
            self.drop_broken(id, error).await;
        }
    }

    /// Drops connection `id` because it is broken; the next caller gets a new one. Logs each broken one
    /// once, even if many callers report it.
    async fn drop_broken(&self, id: u64, why: &RedisError) {
        let mut current = self.current.lock().await;
        if current.connection.as_ref().is_some_and(|found| found.id == id) {
            tracing::warn!(server = %self.host, error = %why, "redis does not answer");
            current.connection = None;
        }
    }
}

impl std::fmt::Debug for NodeLink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "NodeLink({})", self.host)
    }
}

// === impl Left ===

impl Left {
    fn set(&self) {
        self.left.store(true, Ordering::Release);
        self.notify.notify_waiters();
    }

    async fn wait(&self) {
        // Made before the look, so that nothing is missed in between.
        let left = self.notify.notified();
        if !self.left.load(Ordering::Acquire) {
            left.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::Arc, time::Duration};

    use tokio::{net::TcpListener, task::JoinSet};

    use super::*;
    use crate::link::{LinkOptions, ServerAddress};

    const TIMEOUT: Duration = Duration::from_secs(1);

    #[tokio::test]
    async fn many_callers_wait_for_a_silent_redis_together_and_not_in_turn() {
        // Accepts by its backlog, and never says a word.
        let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = silent.local_addr().unwrap().port();
        let address: ServerAddress = "redis://127.0.0.1".parse().unwrap();
        let access = Access::to_servers(&address, &LinkOptions::new(TIMEOUT));
        let host = Host { name: "127.0.0.1".to_owned(), port };
        let link = NodeLink::new(host, &access, Expected::Anything, &Arc::default()).unwrap();
        let link = Arc::new(link);
        let start = Instant::now();
        let mut callers = JoinSet::new();
        for _ in 0..20 {
            let link = Arc::clone(&link);
            callers.spawn(async move { link.connect().await.is_err() });
        }
        assert!(callers.join_all().await.into_iter().all(|failed| failed));
        assert!(start.elapsed() < 10 * TIMEOUT, "{:?}", start.elapsed());
    }
}
