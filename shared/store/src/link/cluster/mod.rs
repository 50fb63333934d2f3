//! The link to a Cluster: every call goes to the node that owns the slot of its first key, and follows the
//! slot when it moves.
//!
//! The library has a connection to Clusters, and deadpool a pool of them. They are not used, because they
//! send a command again whose answer did not come in time or whose connection broke: a join would
//! be counted twice, a counter raised twice. Without that, by their settings, they follow no slot
//! either. Nor do they ever leave a node that hangs without closing its connections, and `WAIT` needs
//! the connection of its write. So this is a map of slots ([`slots`]) over the same links that a single server
//! has ([`NodeLink`]), with the library's hash of keys. Here a command is sent again only after a node has
//! said that it did not carry it out, or could not be connected to.
//!
//! All of it happens within the time-out of a call; then it fails as it does when a single server is away.

mod listening;
mod nodes;
mod route;
mod slots;

use std::{
    sync::{Arc, atomic::AtomicUsize},
    time::Duration,
};

use futures_util::future::{BoxFuture, join_all};
use redis::{Cmd, RedisError, RedisFuture, Value, cluster_routing::Slot};
use tokio::time::{Instant, sleep};

use self::{
    nodes::Nodes,
    route::{Redirect, Route},
};
use super::{
    Answers, Link, Messages,
    access::Access,
    address::Host,
    failures::{leaves_server, timed_out},
    node::NodeLink,
    replicated::Shortfalls,
    subscription::Kind,
};

/// Between two attempts while keys are on their way, or nobody owns a slot.
const PAUSE: Duration = Duration::from_millis(20);
/// So many redirections are followed without a pause.
const AT_ONCE: u32 = 3;

/// A Cluster.
#[derive(Debug)]
pub(super) struct ClusterLink {
    nodes: Nodes,
    timeout: Duration,
    shortfalls: Arc<Shortfalls>,
    /// Chooses the node of the next subscription.
    subscribed: AtomicUsize,
}

/// Where the next attempt goes.
enum Aim {
    Owner,
    Moved(Host),
    Ask(Host),
}

// === impl ClusterLink ===

impl ClusterLink {
    /// Nothing is connected yet. All other nodes are learnt from `seeds`.
    pub(super) fn new(seeds: Vec<Host>, access: &Access, shortfalls: &Arc<Shortfalls>) -> Self {
        Self {
            nodes: Nodes::new(seeds, access, shortfalls),
            timeout: access.timeout,
            shortfalls: Arc::clone(shortfalls),
            subscribed: AtomicUsize::new(0),
        }
    }

    pub(super) async fn ask(&self, command: &Cmd, replicated: bool) -> Result<Value, RedisError> {
        match Route::of(command) {
            Route::Everywhere => self.tell_all(command).await,
            Route::Slot(slot) => {
                self.follow(slot, |node, asking| async move {
                    let connected = node.connect().await.map_err(Failed::Unsent)?;
                    let reply = if replicated {
                        node.ask_replicated(connected, command, asking).await
                    } else {
                        node.ask_on(connected, command, asking).await
                    };
                    reply.map_err(Failed::Sent)
                })
                .await
            }
        }
    }

    /// Asks every primary, and gives all of their answers.
    pub(super) async fn ask_each(&self, command: &Cmd) -> Answers {
        let slots = match self.nodes.known_slots().await {
            Ok(slots) => slots,
            Err(error) => return vec![("the Cluster".to_owned(), Err(error))],
        };
        let answers = slots.primaries().iter().map(|host| async move {
            let answer = match self.nodes.link(host) {
                Ok(node) => node.ask(command).await,
                Err(error) => Err(error),
            };
            (host.to_string(), answer)
        });
        join_all(answers).await
    }

    /// Tries at the owner of `slot`, and wherever it is sent from there, until the time is over.
    async fn follow<T, F>(
        &self,
        slot: Slot,
        attempt: impl Fn(Arc<NodeLink>, bool) -> F,
    ) -> Result<T, RedisError>
    where
        F: Future<Output = Result<T, Failed>>,
    {
        let deadline = Instant::now() + self.timeout;
        let mut aim = Aim::Owner;
        for attempts in 0.. {
            // Nodes that do not agree send everybody back and forth.
            if attempts > AT_ONCE {
                sleep(PAUSE).await;
            }
            let asking = matches!(aim, Aim::Ask(_));
            let host = match aim {
                Aim::Moved(host) | Aim::Ask(host) => Some(host),
                Aim::Owner => self.nodes.known_slots().await?.owner(slot).cloned(),
            };
            let Some(host) = host else {
                aim = self.later(None, "nobody owns the slot", deadline).await?;
                continue;
            };
            let failed = match attempt(self.nodes.link(&host)?, asking).await {
                Ok(done) => return Ok(done),
                Err(failed) => failed,
            };
            aim = self.next_aim(&host, failed, deadline).await?;
        }
        Err(timed_out("no node is the right one"))
    }

    async fn next_aim(
        &self,
        host: &Host,
        failed: Failed,
        deadline: Instant,
    ) -> Result<Aim, RedisError> {
        let (error, was_sent) = match failed {
            Failed::Sent(error) => (error, true),
            Failed::Unsent(error) => (error, false),
        };
        match Redirect::of(&error, host) {
            Some(_) if Instant::now() >= deadline => Err(timed_out(&error.to_string())),
            Some(Redirect::Moved(to)) => {
                self.refresh(Some(host)).await;
                Ok(Aim::Moved(to))
            }
            Some(Redirect::Ask(to)) => Ok(Aim::Ask(to)),
            // It may have been carried out, or was refused for a reason of its own.
            None if was_sent && error.code() != Some("READONLY") => {
                if leaves_server(&error) {
                    self.refresh(Some(host)).await;
                }
                Err(error)
            }
            Some(Redirect::Later) | None => {
                self.later(Some(host), &error.to_string(), deadline).await
            }
        }
    }

    /// Brings the map up to date, and waits a moment if there is time left.
    async fn later(
        &self,
        doubted: Option<&Host>,
        why: &str,
        deadline: Instant,
    ) -> Result<Aim, RedisError> {
        // Also if there is no time left for this call: the next one would find nothing else.
        self.refresh(doubted).await;
        if Instant::now() + PAUSE >= deadline {
            return Err(timed_out(why));
        }
        sleep(PAUSE).await;
        Ok(Aim::Owner)
    }

    /// Without a map that is better, the one that is there stays.
    async fn refresh(&self, doubted: Option<&Host>) {
        if let Err(error) = self.nodes.refresh(doubted).await {
            tracing::debug!(%error, "the slots of the Cluster cannot be read");
        }
    }

    /// Every primary is told; who could not be told is told again when it is next asked for it.
    async fn tell_all(&self, command: &Cmd) -> Result<Value, RedisError> {
        let mut last = timed_out("no node of the Cluster is known");
        let mut told = None;
        for (_, answer) in self.ask_each(command).await {
            match answer {
                Ok(answer) => told = Some(answer),
                Err(error) => last = error,
            }
        }
        told.ok_or(last)
    }
}

/// An attempt that came to nothing, and whether a node was asked to do it.
enum Failed {
    Sent(RedisError),
    Unsent(RedisError),
}

impl Link for ClusterLink {
    fn call<'a>(&'a self, command: &'a Cmd) -> RedisFuture<'a, Value> {
        Box::pin(self.ask(command, false))
    }

    fn call_replicated<'a>(&'a self, command: &'a Cmd) -> RedisFuture<'a, Value> {
        Box::pin(self.ask(command, true))
    }

    fn call_each<'a>(&'a self, command: &'a Cmd) -> BoxFuture<'a, Answers> {
        Box::pin(self.ask_each(command))
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
        true
    }

    fn shard_of(&self, channel: &str) -> String {
        self.nodes.slots().owner(Slot::for_key(channel)).map_or_else(String::new, Host::to_string)
    }

    fn replica_shortfalls(&self) -> u64 {
        self.shortfalls.count()
    }
}
