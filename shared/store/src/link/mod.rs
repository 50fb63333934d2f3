//! The seam under the store: how commands travel to a server, and how its messages come back.
//!
//! [`ServerLink`] speaks to a Redis over the network. A simulation puts a model of Redis in its place;
//! everything above, from the scripts' arguments to the loops of the services, is the same code.

mod server_link;

use std::{fmt, sync::Arc};

use futures_util::{future::BoxFuture, stream::BoxStream};
use redis::{Cmd, Pipeline, RedisError, RedisFuture, Value, aio::ConnectionLike};

pub(crate) use self::server_link::ServerLink;

/// A way to a server. It reconnects by itself, and gives up on a call after a time of its own.
pub trait Link: fmt::Debug + Send + Sync {
    /// Sends one command and waits for its answer. An error that the server answered is a value here,
    /// see [`Value::ServerError`], or an error; callers take both alike.
    fn call<'a>(&'a self, command: &'a Cmd) -> RedisFuture<'a, Value>;

    /// Subscribes to channels. The stream ends when the subscription is lost.
    fn subscribe<'a>(
        &'a self,
        channels: &'a [&'a str],
    ) -> BoxFuture<'a, Result<Messages, RedisError>>;
}

/// The messages of a subscription.
pub type Messages = BoxStream<'static, Message>;

/// What somebody published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The channel.
    pub channel: String,
    /// What was published on it.
    pub payload: String,
}

/// A link as a connection of the library's, which calls scripts and reads replies.
pub(crate) struct Connection(pub(crate) Arc<dyn Link>);

// === impl Connection ===

impl ConnectionLike for Connection {
    fn req_packed_command<'a>(&'a mut self, command: &'a Cmd) -> RedisFuture<'a, Value> {
        self.0.call(command)
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
                replies.push(self.0.call(command).await?);
            }
            Ok(replies)
        })
    }

    fn get_db(&self) -> i64 {
        0
    }
}
