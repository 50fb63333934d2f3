//! Opens connections to one server. The pool of deadpool carries the time-outs; every connection is taken
//! out of it, because they are shared or used for long.

use deadpool_redis::{Manager, Pool, PoolError, Runtime, Timeouts};
use redis::{Client, RedisError, Value, aio::MultiplexedConnection};

use super::{access::Access, address::Host};
use crate::keys::SCHEMA;

const POOL_SIZE: usize = 8;

/// What a server must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expected {
    /// Whatever listens there.
    Anything,
    /// One that takes writes, by its own word.
    Primary,
    /// A node of a Cluster.
    Node,
}

/// Opens connections to one server.
pub(super) struct Opener {
    pool: Pool,
    /// For subscriptions.
    pub(super) subscriber: Client,
    pub(super) expected: Expected,
}

// === impl Opener ===

impl Opener {
    /// Nothing is connected yet.
    pub(super) fn new(
        host: &Host,
        access: &Access,
        expected: Expected,
    ) -> Result<Self, RedisError> {
        let timeout = Some(access.timeout);
        let timeouts = Timeouts { wait: timeout, create: timeout, recycle: timeout };
        let info = access.client(host)?.get_connection_info().clone();
        let pool = Pool::builder(Manager::new_with_config(info, access.config())?)
            .max_size(POOL_SIZE)
            .timeouts(timeouts)
            .runtime(Runtime::Tokio1)
            .build()
            .map_err(std::io::Error::other)?;
        Ok(Self { pool, subscriber: access.subscriber(host)?, expected })
    }

    /// A connection of the caller's own, to a server that is what it must be.
    pub(super) async fn open(&self) -> Result<MultiplexedConnection, RedisError> {
        let connection = self.pool.get().await.map_err(redis_error)?;
        let mut connection = deadpool_redis::Connection::take(connection);
        self.expected.check(&mut connection).await?;
        Ok(connection)
    }
}

// === impl Expected ===

impl Expected {
    /// Fails unless the server answers, and is what it must be. Also while it loads its data.
    pub(super) async fn check(
        self,
        connection: &mut MultiplexedConnection,
    ) -> Result<(), RedisError> {
        match self {
            Self::Anything | Self::Node => redis::cmd("PING").exec_async(connection).await,
            Self::Primary => {
                let role: Vec<Value> = redis::cmd("ROLE").query_async(connection).await?;
                match role.first() {
                    Some(Value::BulkString(role)) if role == b"master" => Ok(()),
                    _ => Err(std::io::Error::other("the server is a replica now").into()),
                }
            }
        }
    }

    /// The same of one that was as it must be: whether it still is. A node that was cut off from its
    /// Cluster answers, but hears nothing of what is published elsewhere.
    pub(super) async fn check_again(
        self,
        connection: &mut MultiplexedConnection,
    ) -> Result<(), RedisError> {
        if self != Self::Node {
            return self.check(connection).await;
        }
        // Whether it has this key or knows who has.
        let found = redis::cmd("EXISTS").arg(SCHEMA).exec_async(connection).await;
        found.or_else(|error| match error.code() {
            Some("MOVED" | "ASK" | "TRYAGAIN") => Ok(()),
            _ => Err(error),
        })
    }
}

fn redis_error(error: PoolError) -> RedisError {
    match error {
        PoolError::Backend(error) => error,
        other => std::io::Error::other(other).into(),
    }
}
