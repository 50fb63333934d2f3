//! The link to one address. What listens there may be a node of a Cluster, which nobody can tell by the
//! address: then it is the first of the nodes, and the others are learnt from it.

use std::sync::{
    Arc,
    atomic::{AtomicU8, Ordering},
};

use futures_util::future::BoxFuture;
use redis::{Cmd, RedisError, RedisFuture, Value};

use super::{
    Answers, Link, Messages, access::Access, address::Host, cluster::ClusterLink, node::NodeLink,
    opener::Expected, replicated::Shortfalls, subscription::Kind,
};

const UNKNOWN: u8 = 0;
const ONE: u8 = 1;
const CLUSTER: u8 = 2;

/// One server, or a Cluster behind one of its nodes.
#[derive(Debug)]
pub(super) struct SingleLink {
    server: NodeLink,
    cluster: ClusterLink,
    /// What it has turned out to be.
    found: AtomicU8,
    shortfalls: Arc<Shortfalls>,
}

// === impl SingleLink ===

impl SingleLink {
    /// Nothing is connected yet.
    pub(super) fn new(host: Host, access: &Access) -> Result<Self, RedisError> {
        let shortfalls = Arc::default();
        Ok(Self {
            server: NodeLink::new(host.clone(), access, Expected::Anything, &shortfalls)?,
            cluster: ClusterLink::new(vec![host], access, &shortfalls),
            found: AtomicU8::new(UNKNOWN),
            shortfalls,
        })
    }

    async fn ask(&self, command: &Cmd, replicated: bool) -> Result<Value, RedisError> {
        if !self.is_cluster().await? {
            let connected = self.server.connect().await?;
            let reply = if replicated {
                self.server.ask_replicated(connected, command, false).await
            } else {
                self.server.ask_on(connected, command, false).await
            };
            if !reply.as_ref().is_err_and(tells_of_cluster) {
                return reply;
            }
            self.found.store(CLUSTER, Ordering::Relaxed);
        }
        self.cluster.ask(command, replicated).await
    }

    /// Asks once. A server that does not let us ask shows by its answers what it is.
    async fn is_cluster(&self) -> Result<bool, RedisError> {
        match self.found.load(Ordering::Relaxed) {
            UNKNOWN => {}
            found => return Ok(found == CLUSTER),
        }
        let info = self.server.ask(redis::cmd("INFO").arg("cluster")).await;
        let found = match info {
            Ok(info) => {
                let info: String = redis::from_redis_value(info)?;
                info.lines().any(|line| line.trim() == "cluster_enabled:1")
            }
            Err(error) if error.code().is_some_and(|code| code == "NOPERM" || code == "ERR") => {
                false
            }
            Err(error) => return Err(error),
        };
        if found {
            tracing::info!(server = %self.server.host, "it is a node of a Cluster");
        }
        self.found.store(if found { CLUSTER } else { ONE }, Ordering::Relaxed);
        Ok(found)
    }

    async fn listen<T: AsRef<str>>(
        &self,
        kind: Kind,
        channels: &[T],
    ) -> Result<Messages, RedisError> {
        if self.is_cluster().await? {
            return self.cluster.listen(kind, channels).await;
        }
        self.server.subscribe(kind, channels).await
    }
}

impl Link for SingleLink {
    fn call<'a>(&'a self, command: &'a Cmd) -> RedisFuture<'a, Value> {
        Box::pin(self.ask(command, false))
    }

    fn call_replicated<'a>(&'a self, command: &'a Cmd) -> RedisFuture<'a, Value> {
        Box::pin(self.ask(command, true))
    }

    fn call_each<'a>(&'a self, command: &'a Cmd) -> BoxFuture<'a, Answers> {
        Box::pin(async move {
            match self.is_cluster().await {
                Ok(true) => self.cluster.ask_each(command).await,
                Ok(false) => vec![(self.server.host.to_string(), self.server.ask(command).await)],
                Err(error) => vec![(self.server.host.to_string(), Err(error))],
            }
        })
    }

    fn subscribe<'a>(
        &'a self,
        channels: &'a [&'a str],
    ) -> BoxFuture<'a, Result<Messages, RedisError>> {
        Box::pin(self.listen(Kind::Everywhere, channels))
    }

    fn subscribe_sharded<'a>(
        &'a self,
        channels: &'a [String],
    ) -> BoxFuture<'a, Result<Messages, RedisError>> {
        Box::pin(self.listen(Kind::Sharded, channels))
    }

    fn has_shards(&self) -> bool {
        self.found.load(Ordering::Relaxed) == CLUSTER
    }

    fn shard_of(&self, channel: &str) -> String {
        self.cluster.shard_of(channel)
    }

    fn replica_shortfalls(&self) -> u64 {
        self.shortfalls.count()
    }
}

fn tells_of_cluster(error: &RedisError) -> bool {
    matches!(error.code(), Some("MOVED" | "ASK" | "CLUSTERDOWN"))
}
