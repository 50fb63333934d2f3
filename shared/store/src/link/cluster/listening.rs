//! Subscriptions at a Cluster: what is published everywhere is heard at any node, a sharded channel at the owner of its
//! slot alone.

use std::sync::atomic::Ordering;

use futures_util::{StreamExt, future::join_all, stream};
use redis::RedisError;
use tokio::time::{Instant, sleep};

use super::{AT_ONCE, ClusterLink, Failed, PAUSE};
use crate::link::{Messages, address::Host, failures::timed_out, subscription::Kind};

// === impl ClusterLink ===

impl ClusterLink {
    /// Subscribes at one node for everything that is published everywhere, or at the owners of sharded channels, with
    /// one connection to each. The stream ends when any part of it does.
    pub(in crate::link) async fn listen<T: AsRef<str>>(
        &self,
        kind: Kind,
        channels: &[T],
    ) -> Result<Messages, RedisError> {
        match kind {
            Kind::Everywhere => self.listen_anywhere(channels).await,
            Kind::Sharded => {
                let names: Vec<&str> = channels.iter().map(AsRef::as_ref).collect();
                self.listen_at_owners(&names).await
            }
        }
    }

    /// Each attempt tries another node first, so that a bad one is left.
    async fn listen_anywhere<T: AsRef<str>>(&self, channels: &[T]) -> Result<Messages, RedisError> {
        let slots = self.nodes.known_slots().await?;
        let primaries = slots.primaries();
        let next = self.subscribed.fetch_add(1, Ordering::Relaxed) % primaries.len().max(1);
        let mut last = timed_out("no node of the Cluster is known");
        for host in primaries[next..].iter().chain(&primaries[..next]) {
            match self.nodes.link(host)?.subscribe(Kind::Everywhere, channels).await {
                Ok(messages) => return Ok(messages),
                Err(error) => last = error,
            }
        }
        self.refresh(None).await;
        Err(last)
    }

    /// Tries where the map says, and again when that turns out to be wrong, until the time is over.
    async fn listen_at_owners(&self, channels: &[&str]) -> Result<Messages, RedisError> {
        let deadline = Instant::now() + self.timeout;
        for attempts in 0.. {
            if attempts > AT_ONCE {
                sleep(PAUSE).await;
            }
            let slots = self.nodes.known_slots().await?;
            let Some(owners) = slots.owners_of(channels) else {
                self.later(None, "nobody owns the slot", deadline).await?;
                continue;
            };
            let parts = owners.into_iter().map(|(host, channels)| self.listen_at(host, channels));
            let parts: Result<Vec<_>, _> = join_all(parts).await.into_iter().collect();
            match parts {
                Ok(parts) => {
                    let all = stream::select_all(parts);
                    return Ok(all.scan((), |(), message| async move { message }).boxed());
                }
                Err((host, error)) => {
                    let was_answered = error.code().is_some();
                    let failed = if was_answered { Failed::Sent } else { Failed::Unsent };
                    // Brings the map up to date, if that is what was wrong.
                    self.next_aim(host, failed(error), deadline).await?;
                }
            }
        }
        Err(timed_out("no node is the right one"))
    }

    /// At one node; the last item is `None`.
    async fn listen_at<'a>(
        &self,
        host: &'a Host,
        channels: Vec<&str>,
    ) -> Result<stream::BoxStream<'static, Option<crate::Message>>, (&'a Host, RedisError)> {
        let node = self.nodes.link(host).map_err(|error| (host, error))?;
        let messages = node.subscribe(Kind::Sharded, &channels).await;
        let messages = messages.map_err(|error| (host, error))?;
        Ok(messages.map(Some).chain(stream::iter([None])).boxed())
    }
}
