//! Delivering: everything that travels arrives in the order of virtual time.

use std::cmp::Reverse;

use redis::Value;
use tokio::time::sleep_until;
use vestibule_redis_model::{Reply, wire};
use vestibule_store::Message;

use super::{Inner, Network, Node, Scheduled, failures};

/// Something that arrives.
#[derive(Debug)]
pub(super) enum Event {
    /// A command, at a server.
    Request { id: u64, node: Node, words: Vec<Vec<u8>> },
    /// A server's answer, at its caller.
    Answer { id: u64, node: Node, value: Result<Value, redis::RedisError> },
    /// A caller has waited for long enough.
    Impatience { id: u64, node: Node, connection: u64 },
    /// A connection breaks.
    Break { node: Node, connection: u64 },
    /// A published message, at a subscriber.
    Message { node: Node, subscription: u64, message: Message },
}

// === impl Network ===

impl Network {
    /// Delivers until it is dropped.
    pub(crate) async fn run(&self) {
        loop {
            let now_ms = self.now_ms();
            let next_ms = {
                let mut inner = self.lock();
                while let Some(scheduled) = inner.take_due(now_ms) {
                    inner.deliver(scheduled, now_ms);
                }
                inner.earliest_ms()
            };
            let earlier = self.0.earlier.notified();
            if next_ms == u64::MAX {
                earlier.await;
                continue;
            }
            tokio::select! {
                biased;
                () = earlier => {}
                () = sleep_until(self.moment(next_ms)) => {}
            }
        }
    }
}

// === impl Event ===

impl Event {
    fn node(&self) -> Node {
        match self {
            Self::Request { node, .. }
            | Self::Answer { node, .. }
            | Self::Impatience { node, .. }
            | Self::Break { node, .. }
            | Self::Message { node, .. } => *node,
        }
    }
}

// === impl Inner ===

impl Inner {
    pub(super) fn schedule(&mut self, at_ms: u64, event: Event) {
        let number = self.scheduled;
        self.scheduled += 1;
        self.events.push(Reverse(Scheduled { at_ms, number, event }));
    }

    /// When the next event is due.
    pub(super) fn earliest_ms(&self) -> u64 {
        self.events.peek().map_or(u64::MAX, |Reverse(scheduled)| scheduled.at_ms)
    }

    fn take_due(&mut self, now_ms: u64) -> Option<Scheduled> {
        if self.earliest_ms() > now_ms {
            return None;
        }
        self.events.pop().map(|Reverse(scheduled)| scheduled)
    }

    fn deliver(&mut self, scheduled: Scheduled, now_ms: u64) {
        let Scheduled { number, event, .. } = scheduled;
        let state = self.state(event.node());
        if state.frozen_until_ms > now_ms {
            // It waits in a socket of a stopped process; which of them is read first is not fixed.
            let thaws_ms = match event {
                Event::Request { .. } => state.thaws_ms.requests,
                Event::Message { .. } => state.thaws_ms.messages,
                _ => state.thaws_ms.answers,
            };
            // With its old number, so that what one connection carries stays in order.
            self.events.push(Reverse(Scheduled { at_ms: thaws_ms, number, event }));
            return;
        }
        match event {
            Event::Request { id, node, words } => self.execute(id, node, &words, now_ms),
            Event::Answer { id, value, .. } => self.answer(id, value),
            Event::Impatience { id, node, connection } => self.lose_patience(id, node, connection),
            Event::Break { node, connection } => {
                if self.state(node).connection == connection {
                    self.break_connections(node);
                }
            }
            Event::Message { subscription, message, .. } => self.hand_over(subscription, message),
        }
    }

    /// A server carries a command out, and its answer travels back.
    fn execute(&mut self, id: u64, node: Node, words: &[Vec<u8>], now_ms: u64) {
        let name = self.state(node).name.clone();
        let Some(executed) = self.servers.execute(node, words, now_ms) else {
            return; // It is away: nobody answers.
        };
        let (now, keyspace) = ((now_ms, self.servers.clock_ms(now_ms)), self.servers.keyspace());
        // What a server holds that another has replaced says nothing of the deployment.
        let keyspace = (executed.side == 0).then_some(keyspace);
        let script = self.observer.executed(now, &name, words, &executed.reply, keyspace);
        if script == Some("begin_tick")
            && let Some(ms) = self.freezes_in_tick_ms.take()
        {
            self.freeze(node, now_ms + ms);
        }
        self.send_messages(executed.messages, executed.side, now_ms);
        self.send_answer(id, node, executed.reply, now_ms);
    }

    fn send_answer(&mut self, id: u64, node: Node, reply: Reply, now_ms: u64) {
        let Some(connection) = self.calls.get(&id).map(|call| call.connection) else { return };
        let at_ms = now_ms + self.travel_ms(node);
        if self.chance.happens(self.nodes[node.0 as usize].weather.lost_answers) {
            return self.schedule(at_ms, Event::Break { node, connection });
        }
        let state = self.state(node);
        let at_ms = state.last_answer_ms.max(at_ms);
        if state.connection == connection {
            state.last_answer_ms = at_ms;
        }
        self.schedule(at_ms, Event::Answer { id, node, value: wire::value(reply) });
    }

    /// The caller gives up, and takes the connection for broken.
    fn lose_patience(&mut self, id: u64, node: Node, connection: u64) {
        if !self.calls.contains_key(&id) {
            return;
        }
        self.answer(id, Err(failures::timed_out()));
        let state = self.state(node);
        if state.connection == connection {
            state.connection += 1;
            (state.last_request_ms, state.last_answer_ms) = (0, 0);
        }
    }

    fn send_messages(
        &mut self,
        messages: Vec<vestibule_redis_model::Message>,
        side: usize,
        now_ms: u64,
    ) {
        for message in messages {
            let (channel, payload) = message.texts();
            let message = Message { channel, payload };
            for at in 0..self.subscriptions.len() {
                self.send_message(at, &message, side, now_ms);
            }
            self.subscriptions.retain(|subscription| subscription.messages.is_some());
        }
    }

    fn send_message(&mut self, at: usize, message: &Message, side: usize, now_ms: u64) {
        let subscription = &self.subscriptions[at];
        let node = subscription.node;
        let weather = self.nodes[node.0 as usize].weather;
        let hears = subscription.channels.contains(&message.channel)
            && self.servers.side_of(node) == side
            && !weather.deaf;
        if !hears {
            return;
        }
        if self.chance.happens(weather.lost_messages) {
            self.subscriptions[at].messages = None;
            return;
        }
        let at_ms = self.subscriptions[at].last_ms.max(now_ms + self.travel_ms(node));
        self.subscriptions[at].last_ms = at_ms;
        let subscription = self.subscriptions[at].id;
        self.schedule(at_ms, Event::Message { node, subscription, message: message.clone() });
    }

    fn hand_over(&mut self, id: u64, message: Message) {
        let subscription = self.subscriptions.iter().find(|one| one.id == id);
        if let Some(messages) = subscription.and_then(|one| one.messages.as_ref()) {
            // The subscriber may have gone away.
            let _ = messages.send(message);
        }
    }
}
