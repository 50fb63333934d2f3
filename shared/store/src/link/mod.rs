//! The seam under the store: how commands travel to a server, and how its messages come back.
//!
//! [`open`] makes the link that an address asks for: to one server, to a Cluster, or to a primary that
//! Sentinels watch. A simulation puts a model of Redis in their place; everything above, from the scripts'
//! arguments to the loops of the services, is the same code.
//!
//! | file | what |
//! |---|---|
//! | `address`, `options`, `access` | where the servers are, and how they are approached |
//! | `node`, `opener`, `subscription`, `replicated` | one server: the shared connection, and those beside it |
//! | `single`, `sentinel`, `cluster` | which server a call goes to |

mod access;
mod address;
mod cluster;
mod failures;
mod node;
mod opener;
mod options;
mod patience;
mod replicated;
mod sentinel;
mod single;
mod subscription;

use std::{fmt, sync::Arc};

use futures_util::{future::BoxFuture, stream::BoxStream};
use redis::{Cmd, Pipeline, RedisError, RedisFuture, Value, aio::ConnectionLike};

use self::{
    access::Access, address::Servers, cluster::ClusterLink, sentinel::SentinelLink,
    single::SingleLink,
};
pub use self::{address::ServerAddress, options::LinkOptions};
use crate::StoreError;

/// A way to a server. It reconnects by itself, and gives up on a call after a time of its own. It never
/// sends a command again that may have been carried out.
pub trait Link: fmt::Debug + Send + Sync {
    /// Sends one command and waits for its answer. An error that the server answered is a value here,
    /// see [`Value::ServerError`], or an error; callers take both alike.
    fn call<'a>(&'a self, command: &'a Cmd) -> RedisFuture<'a, Value>;

    /// As [`Self::call`], and waits until enough replicas have what the command wrote, if the link was told
    /// to. If they do not have it in time, that is counted, and the answer is given all the same.
    fn call_replicated<'a>(&'a self, command: &'a Cmd) -> RedisFuture<'a, Value> {
        self.call(command)
    }

    /// As [`Self::call`], at every server that holds a part of the data.
    fn call_each<'a>(&'a self, command: &'a Cmd) -> BoxFuture<'a, Answers> {
        Box::pin(async move { vec![("redis".to_owned(), self.call(command).await)] })
    }

    /// Subscribes to channels. The stream ends when the subscription is lost.
    fn subscribe<'a>(
        &'a self,
        channels: &'a [&'a str],
    ) -> BoxFuture<'a, Result<Messages, RedisError>>;

    /// Subscribes to sharded channels, each at the server that owns its slot. The stream ends when any of
    /// them is lost, or moves. A link that knows no shards takes them for channels.
    fn subscribe_sharded<'a>(
        &'a self,
        channels: &'a [String],
    ) -> BoxFuture<'a, Result<Messages, RedisError>> {
        Box::pin(async move {
            let names: Vec<&str> = channels.iter().map(String::as_str).collect();
            self.subscribe(&names).await
        })
    }

    /// Whether it is known to lead to a Cluster, where a sharded channel is at one shard alone.
    fn has_shards(&self) -> bool {
        false
    }

    /// The name of the shard that a sharded channel is at, as far as that is known: channels of one shard are lost together.
    fn shard_of(&self, _channel: &str) -> String {
        String::new()
    }

    /// How many answers of [`Self::call_replicated`] were given although too few replicas had them.
    fn replica_shortfalls(&self) -> u64 {
        0
    }
}

/// The messages of a subscription.
pub type Messages = BoxStream<'static, Message>;

/// The answers of several servers, each with the server's name.
pub type Answers = Vec<(String, Result<Value, RedisError>)>;

/// What somebody published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The channel.
    pub channel: String,
    /// What was published on it.
    pub payload: String,
}

/// A link as a connection of the library's, which calls scripts and reads replies.
pub(crate) struct Connection {
    link: Arc<dyn Link>,
    replicated: bool,
}

/// The link that `address` asks for; nothing is connected yet.
///
/// # Errors
/// [`StoreError::Address`] if the options do not fit the address.
pub fn open(address: &ServerAddress, options: &LinkOptions) -> Result<Arc<dyn Link>, StoreError> {
    if options.authorities.is_some() && !address.is_encrypted() {
        let why = "there are certificate authorities, and no encryption: it must begin with rediss";
        return Err(StoreError::Address(why.into()));
    }
    let access = Access::to_servers(address, options);
    access.check()?;
    Ok(match &address.servers {
        Servers::One(host) => Arc::new(SingleLink::new(host.clone(), &access)?),
        Servers::Cluster(seeds) => {
            Arc::new(ClusterLink::new(seeds.clone(), &access, &Arc::default()))
        }
        Servers::Sentinels { sentinels, master, credentials } => {
            Arc::new(SentinelLink::new(sentinels, master, credentials.as_ref(), &access))
        }
    })
}

// === impl Connection ===

impl Connection {
    /// `replicated`: its calls shall be on replicas before they are answered.
    pub(crate) fn new(link: Arc<dyn Link>, replicated: bool) -> Self {
        Self { link, replicated }
    }
}

impl ConnectionLike for Connection {
    fn req_packed_command<'a>(&'a mut self, command: &'a Cmd) -> RedisFuture<'a, Value> {
        if self.replicated { self.link.call_replicated(command) } else { self.link.call(command) }
    }

    /// One after the other: the store batches its calls in scripts and has no use for pipelines.
    fn req_packed_commands<'a>(
        &'a mut self,
        pipeline: &'a Pipeline,
        offset: usize,
        count: usize,
    ) -> RedisFuture<'a, Vec<Value>> {
        Box::pin(async move {
            let mut replies = Vec::with_capacity(count);
            for command in pipeline.cmd_iter().skip(offset).take(count) {
                replies.push(self.link.call(command).await?);
            }
            Ok(replies)
        })
    }

    fn get_db(&self) -> i64 {
        0
    }
}
