//! A link that loses answers: what was called is done, and nobody gets to know.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use futures_util::future::BoxFuture;
use redis::{Cmd, ErrorKind, RedisError, RedisFuture, Value};
use vestibule_store::{Link, Messages, Store};

use crate::world::World;

#[derive(Debug)]
pub(crate) struct LosesAnswers {
    link: Arc<dyn Link>,
    /// Loses so many of the next ones.
    loses: AtomicU32,
}

// === impl LosesAnswers ===

impl LosesAnswers {
    /// A store of this world, and the link that its calls travel over.
    pub(crate) fn of(world: &World) -> (Store, Arc<Self>) {
        let link = Arc::new(Self { link: world.server.link(), loses: AtomicU32::new(0) });
        (Store::over(link.clone(), world.store.clock().clone()).named("forgetful"), link)
    }

    /// The next `count` answers are lost.
    pub(crate) fn lose(&self, count: u32) {
        self.loses.store(count, Ordering::Relaxed);
    }
}

impl Link for LosesAnswers {
    fn call<'a>(&'a self, command: &'a Cmd) -> RedisFuture<'a, Value> {
        Box::pin(async move {
            let answer = self.link.call(command).await;
            let one_less = |left: u32| left.checked_sub(1);
            match self.loses.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less) {
                Ok(_) => Err(RedisError::from((ErrorKind::Io, "the answer is lost"))),
                Err(_) => answer,
            }
        })
    }

    fn subscribe<'a>(
        &'a self,
        channels: &'a [&'a str],
    ) -> BoxFuture<'a, Result<Messages, RedisError>> {
        self.link.subscribe(channels)
    }
}
