//! A service's link to Redis, over the simulated network.

use futures_util::{StreamExt, future::BoxFuture, stream};
use redis::{Cmd, RedisError, RedisFuture, Value};
use tokio::sync::{mpsc, oneshot};
use vestibule_redis_model::wire;
use vestibule_store::{Link, Messages};

use super::{Inner, Network, Node, PATIENCE_MS, Pending, Subscription, delivery::Event, failures};

/// The link of one node.
#[derive(Debug)]
pub struct SimulatedLink {
    network: Network,
    node: Node,
}

// === impl SimulatedLink ===

impl SimulatedLink {
    pub(crate) fn new(network: Network, node: Node) -> Self {
        Self { network, node }
    }

    async fn ask(&self, command: &Cmd) -> Result<Value, RedisError> {
        let answered = self.network.send(self.node, wire::words(command))?;
        answered.await.unwrap_or_else(|_| Err(failures::broken()))?.extract_error()
    }
}

impl Link for SimulatedLink {
    fn call<'a>(&'a self, command: &'a Cmd) -> RedisFuture<'a, Value> {
        Box::pin(self.ask(command))
    }

    fn subscribe<'a>(
        &'a self,
        channels: &'a [&'a str],
    ) -> BoxFuture<'a, Result<Messages, RedisError>> {
        Box::pin(async move {
            // The handshake is a call like any other: it is lost and delayed like one.
            self.ask(&redis::cmd("PING")).await?;
            let received = self.network.subscribe(self.node, channels)?;
            let next = |mut received: mpsc::UnboundedReceiver<_>| async move {
                received.recv().await.map(|message| (message, received))
            };
            Ok(stream::unfold(received, next).boxed())
        })
    }
}

// === impl Network ===

impl Network {
    /// Sends a command of `node`.
    fn send(
        &self,
        node: Node,
        words: Vec<Vec<u8>>,
    ) -> Result<oneshot::Receiver<Result<Value, RedisError>>, RedisError> {
        let now_ms = self.now_ms();
        let mut inner = self.lock();
        if !inner.state(node).is_up {
            return Err(failures::broken());
        }
        if inner.servers.refuses_connections(node, now_ms) {
            return Err(failures::refused());
        }
        let earliest = inner.earliest_ms();
        let answered = inner.send(node, words, now_ms);
        if inner.earliest_ms() < earliest {
            self.0.earlier.notify_one();
        }
        Ok(answered)
    }

    fn subscribe(
        &self,
        node: Node,
        channels: &[&str],
    ) -> Result<mpsc::UnboundedReceiver<vestibule_store::Message>, RedisError> {
        let mut inner = self.lock();
        if !inner.state(node).is_up {
            return Err(failures::broken());
        }
        let (messages, received) = mpsc::unbounded_channel();
        let channels = channels.iter().map(|channel| (*channel).to_owned()).collect();
        let messages = Some(messages);
        let id = inner.numbered_subscriptions;
        inner.numbered_subscriptions += 1;
        inner.subscriptions.push(Subscription { id, node, channels, last_ms: 0, messages });
        Ok(received)
    }
}

// === impl Inner ===

impl Inner {
    fn send(
        &mut self,
        node: Node,
        words: Vec<Vec<u8>>,
        now_ms: u64,
    ) -> oneshot::Receiver<Result<Value, RedisError>> {
        let (answer, answered) = oneshot::channel();
        let id = self.numbered_calls;
        self.numbered_calls += 1;
        let connection = self.state(node).connection;
        self.calls.insert(id, Pending { node, connection, answer });
        let travels_ms = self.travel_ms(node);
        let lost = self.state(node).weather.lost_requests;
        if self.chance.happens(lost) {
            self.schedule(now_ms + travels_ms, Event::Break { node, connection });
        } else {
            let state = self.state(node);
            // What one connection carries arrives in order.
            let at_ms = state.last_request_ms.max(now_ms + travels_ms);
            state.last_request_ms = at_ms;
            self.schedule(at_ms, Event::Request { id, node, words });
        }
        self.schedule(now_ms + PATIENCE_MS, Event::Impatience { id, node, connection });
        answered
    }

    /// How long something of `node` travels.
    pub(super) fn travel_ms(&mut self, node: Node) -> u64 {
        let slowest_ms = self.state(node).weather.slowest_ms;
        self.chance.within(0..slowest_ms + 1)
    }
}
