//! What a test's stores speak to: a real server in a process of its own, or the model of one.

use std::{sync::Arc, time::Duration};

use redis::{Cmd, FromRedisValue};
use vestibule_redis_model::{Dialect, Engine};
use vestibule_store::{Clock, Link, LinkOptions, ManualClock, Store, open_link};
use vestibule_tests::{Flavor, Redis};

use crate::model::Model;

/// A server of a test's own, empty at the start.
#[derive(Debug)]
pub(crate) enum Server {
    Real(Redis),
    Model(Arc<Model>),
}

// === impl Server ===

impl Server {
    pub(crate) async fn real(flavor: Flavor) -> Self {
        Self::Real(Redis::start(flavor).await.unwrap())
    }

    pub(crate) fn model(dialect: Dialect) -> Self {
        Self::Model(Arc::new(Model::new(Engine::new(), dialect)))
    }

    /// A store on it. A slow answer is better than none: nobody waits.
    pub(crate) fn store(&self, clock: &ManualClock) -> Store {
        Store::over(self.link(), Clock::Manual(clock.clone()))
    }

    /// A link to it.
    pub(crate) fn link(&self) -> Arc<dyn Link> {
        match self {
            Self::Real(redis) => {
                let options = LinkOptions::new(Duration::from_mins(1));
                open_link(&redis.url().parse().unwrap(), &options).unwrap()
            }
            Self::Model(model) => model.clone(),
        }
    }

    /// The answer to one command, on a connection of the test's own.
    pub(crate) async fn ask<T: FromRedisValue>(&self, command: &Cmd) -> T {
        match self {
            Self::Real(redis) => {
                command.query_async(&mut redis.connection().await.unwrap()).await.unwrap()
            }
            Self::Model(model) => T::from_redis_value(model.ask(command).unwrap()).unwrap(),
        }
    }

    /// Loses everything.
    pub(crate) async fn flush(&self) {
        self.ask::<()>(&redis::cmd("FLUSHALL")).await;
    }

    /// How many keys it holds.
    pub(crate) async fn keys(&self) -> u64 {
        self.ask(&redis::cmd("DBSIZE")).await
    }
}
