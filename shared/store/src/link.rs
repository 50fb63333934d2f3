//! Connections to Redis: deadpool provides them, and one multiplexed link carries the scripts of
//! all tasks until it breaks. Batches are few, so one link is enough; a pool round per call would
//! cost a PING each.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use deadpool_redis::{
    Config, Pool, PoolConfig, Runtime, Timeouts,
    redis::{Client, aio::MultiplexedConnection},
};
use tokio::sync::Mutex;

use crate::StoreError;

/// How long a connection may take to open, or to be handed out by the pool.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);
const POOL_SIZE: usize = 4;

/// A shared, self-mending link to Redis. Cloning is cheap.
#[derive(Clone)]
pub(crate) struct Link {
    pool: Pool,
    client: Client,
    current: Arc<Mutex<Option<(u64, MultiplexedConnection)>>>,
    opened: Arc<AtomicU64>,
}

// === impl Link ===

impl Link {
    /// Prepares a link; nothing is connected yet.
    pub(crate) fn open(url: &str) -> Result<Self, StoreError> {
        // The error of the parser may repeat the address, with the password in it: leave it out.
        let bad = |_| StoreError::Address("it must be redis://… or rediss://…, one address".into());
        let client = Client::open(url).map_err(bad)?;
        let timeouts = Timeouts {
            wait: Some(CONNECT_TIMEOUT),
            create: Some(CONNECT_TIMEOUT),
            recycle: Some(CONNECT_TIMEOUT),
        };
        let mut config = Config::from_url(url);
        config.pool = Some(PoolConfig { max_size: POOL_SIZE, timeouts, ..PoolConfig::default() });
        let pool = config
            .create_pool(Some(Runtime::Tokio1))
            .map_err(|_| StoreError::Address("no pool can be made for it".into()))?;
        Ok(Self { pool, client, current: Arc::default(), opened: Arc::default() })
    }

    /// The link as it stands, or a fresh one.
    pub(crate) async fn get(&self) -> Result<(u64, MultiplexedConnection), StoreError> {
        let mut current = self.current.lock().await;
        if let Some(link) = &*current {
            return Ok(link.clone());
        }
        let connection = deadpool_redis::Connection::take(self.pool.get().await?);
        let link = (self.opened.fetch_add(1, Ordering::Relaxed), connection);
        *current = Some(link.clone());
        Ok(link)
    }

    /// Says that link `id` is broken: the next caller gets a fresh one.
    pub(crate) async fn drop_broken(&self, id: u64) {
        let mut current = self.current.lock().await;
        if current.as_ref().is_some_and(|(found, _)| *found == id) {
            *current = None;
        }
    }

    /// For subscriptions, which need a connection of their own.
    pub(crate) fn client(&self) -> &Client {
        &self.client
    }
}

impl std::fmt::Debug for Link {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Link")
    }
}
