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
    /// So many of the next ones arrive all the same.
    spares: AtomicU32,
    /// Loses so many of those after them.
    loses: AtomicU32,
}

// === impl LosesAnswers ===

impl LosesAnswers {
    /// A store of this world, and the link that its calls travel over.
    pub(crate) fn of(world: &World) -> (Store, Arc<Self>) {
        let link = Arc::new(Self {
            link: world.server.link(),
            spares: AtomicU32::new(0),
            loses: AtomicU32::new(0),
        });
        (Store::over(link.clone(), world.store.clock().clone()).named("forgetful"), link)
    }

    /// The next `count` answers are lost.
    pub(crate) fn lose(&self, count: u32) {
        self.loses.store(count, Ordering::Relaxed);
    }

    /// So many of those are still to come.
    pub(crate) fn left(&self) -> u32 {
        self.loses.load(Ordering::Relaxed)
    }

    /// So many answers arrive, and the `count` after them are lost.
    pub(crate) fn lose_after(&self, spared: u32, count: u32) {
        self.spares.store(spared, Ordering::Relaxed);
        self.lose(count);
    }
}

impl Link for LosesAnswers {
    fn call<'a>(&'a self, command: &'a Cmd) -> RedisFuture<'a, Value> {
        Box::pin(async move {
            let answer = self.link.call(command).await;
            let one_less = |left: u32| left.checked_sub(1);
            if self.spares.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less).is_ok() {
                return answer;
            }
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
