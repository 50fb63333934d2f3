//! The link to a real server: deadpool opens connections, and one multiplexed link carries the calls of all tasks
//! until it breaks. There are few calls, because they are batched, so one link is enough; taking a
//! connection from the pool for each call would cost a PING each time.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use deadpool_redis::{
    Manager, Pool, PoolError, Runtime, Timeouts,
    redis::{AsyncConnectionConfig, Client, aio::MultiplexedConnection},
};
use futures_util::{StreamExt, future::BoxFuture};
use redis::{Cmd, Msg, RedisError, RedisFuture, Value, aio::ConnectionLike};
use tokio::{sync::Mutex, time::Instant};

use super::{Link, Message, Messages};
use crate::StoreError;

const POOL_SIZE: usize = 4;

/// One multiplexed connection, opened again when it breaks.
pub(crate) struct ServerLink {
    pool: Pool,
    /// For subscriptions, which need a connection of their own.
    client: Client,
    current: Mutex<Current>,
    opened: AtomicU64,
}

#[derive(Default)]
struct Current {
    link: Option<(u64, MultiplexedConnection)>,
    /// When the last attempt to connect failed, and how.
    failed: Option<(Instant, RedisError)>,
}

// === impl ServerLink ===

impl ServerLink {
    /// Prepares a link; nothing is connected yet. Connecting and each reply may take `timeout`.
    pub(crate) fn open(url: &str, timeout: Duration) -> Result<Self, StoreError> {
        // The parser's error may contain the address with its password, so it is left out.
        let bad = |_| StoreError::Address("it must be redis://… or rediss://…, one address".into());
        let client = Client::open(url).map_err(bad)?;
        let timeouts =
            Timeouts { wait: Some(timeout), create: Some(timeout), recycle: Some(timeout) };
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(timeout))
            .set_response_timeout(Some(timeout));
        let pool = Pool::builder(Manager::new_with_config(url, config).map_err(bad)?)
            .max_size(POOL_SIZE)
            .timeouts(timeouts)
            .runtime(Runtime::Tokio1)
            .build()
            .map_err(|_| StoreError::Address("no pool can be made for it".into()))?;
        Ok(Self { pool, client, current: Mutex::default(), opened: AtomicU64::new(0) })
    }

    /// The current link and its id, or a new one.
    async fn get(&self) -> Result<(u64, MultiplexedConnection), RedisError> {
        let asked_at = Instant::now();
        let mut current = self.current.lock().await;
        if let Some(link) = &current.link {
            return Ok(link.clone());
        }
        // Callers that waited during a failed attempt share its error. If each of many callers tried
        // again in turn, the last one would wait for minutes.
        if let Some((at, error)) = &current.failed
            && *at >= asked_at
        {
            return Err(error.clone());
        }
        match self.pool.get().await.map(deadpool_redis::Connection::take) {
            Ok(connection) => {
                let link = (self.opened.fetch_add(1, Ordering::Relaxed), connection);
                if link.0 > 0 {
                    tracing::info!("connected to redis again");
                }
                current.link = Some(link.clone());
                Ok(link)
            }
            Err(error) => {
                let error = redis_error(error);
                current.failed = Some((Instant::now(), error.clone()));
                Err(error)
            }
        }
    }

    /// Drops link `id` because it is broken; the next caller gets a new one. Logs each broken link once,
    /// even if many callers report it.
    async fn drop_broken(&self, id: u64, why: &RedisError) {
        let mut current = self.current.lock().await;
        if current.link.as_ref().is_some_and(|(found, _)| *found == id) {
            tracing::warn!(error = %why, "redis does not answer");
            current.link = None;
        }
    }

    async fn ask(&self, command: &Cmd) -> Result<Value, RedisError> {
        let (id, mut connection) = self.get().await?;
        let reply = connection.req_packed_command(command).await.and_then(Value::extract_error);
        if let Err(error) = &reply
            && matches!(StoreError::from(error.clone()), StoreError::Unavailable(_))
        {
            self.drop_broken(id, error).await;
        }
        reply
    }

    async fn listen(&self, channels: &[&str]) -> Result<Messages, RedisError> {
        let mut connection = self.client.get_async_pubsub().await?;
        connection.subscribe(channels).await?;
        let message = |message: Msg| async move {
            let channel = message.get_channel_name().to_owned();
            Some(Message { channel, payload: message.get_payload().ok()? })
        };
        Ok(connection.into_on_message().filter_map(message).boxed())
    }
}

impl Link for ServerLink {
    fn call<'a>(&'a self, command: &'a Cmd) -> RedisFuture<'a, Value> {
        Box::pin(self.ask(command))
    }

    fn subscribe<'a>(
        &'a self,
        channels: &'a [&'a str],
    ) -> BoxFuture<'a, Result<Messages, RedisError>> {
        Box::pin(self.listen(channels))
    }
}

impl std::fmt::Debug for ServerLink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ServerLink")
    }
}

fn redis_error(error: PoolError) -> RedisError {
    match error {
        PoolError::Backend(error) => error,
        other => std::io::Error::other(other).into(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::{net::TcpListener, task::JoinSet};

    use super::*;

    const TIMEOUT: Duration = Duration::from_secs(1);

    #[tokio::test]
    async fn many_callers_wait_for_a_silent_redis_together_and_not_in_turn() {
        // Accepts by its backlog, and never says a word.
        let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("redis://{}", silent.local_addr().unwrap());
        let link = Arc::new(ServerLink::open(&url, TIMEOUT).unwrap());
        let start = Instant::now();
        let mut callers = JoinSet::new();
        for _ in 0..20 {
            let link = Arc::clone(&link);
            callers.spawn(async move { link.get().await.is_err() });
        }
        assert!(callers.join_all().await.into_iter().all(|failed| failed));
        assert!(start.elapsed() < 10 * TIMEOUT, "{:?}", start.elapsed());
    }
}
