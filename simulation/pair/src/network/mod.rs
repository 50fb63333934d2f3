//! The network between the services and Redis, and the Redis servers at its end: what travels, how
//! long it takes, what is lost, and what each server does with it. One task delivers everything in the
//! order of virtual time.
//!
//! Connections are as TCP has them: what one connection carries arrives in order or not at all. What
//! was sent on a connection that broke may still arrive, which is how a call is late or applied
//! although its caller was told that it failed.

mod delivery;
mod failures;
mod link;
mod servers;

use std::{
    cmp::Reverse,
    collections::BinaryHeap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use redis::{RedisError, Value};
use rustc_hash::FxHashMap;
use tokio::{
    sync::{Notify, mpsc, oneshot},
    time::{Duration, Instant},
};
use vestibule_store::Message;

use self::delivery::Event;
pub use self::{link::SimulatedLink, servers::Servers};
use crate::{Chance, observer::Observer};

/// How long a service waits for an answer, ms: the default of both services.
pub(crate) const PATIENCE_MS: u64 = 1_000;

/// How much later than its thaw a stopped process comes to what waits in a socket, ms at most.
const THAW_SPREAD_MS: u64 = 20;

/// A service at the network. One that is restarted is another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Node(pub(crate) u32);

/// How a node's connections are at the moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weather {
    /// The longest that a request or an answer travels, ms.
    pub slowest_ms: u64,
    /// How many requests are lost, with their connection.
    pub lost_requests: f64,
    /// How many answers are lost, with their connection.
    pub lost_answers: f64,
    /// How many messages of subscriptions are lost, each with its subscription.
    pub lost_messages: f64,
    /// Subscriptions look alive and bring nothing.
    pub deaf: bool,
}

/// The network. Cloning is cheap.
#[derive(Debug, Clone)]
pub struct Network(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    begun: Instant,
    inner: Mutex<Inner>,
    /// Something earlier than everything else is due.
    earlier: Notify,
}

#[derive(Debug)]
struct Inner {
    servers: Servers,
    observer: Observer,
    chance: Chance,
    events: BinaryHeap<Reverse<Scheduled>>,
    scheduled: u64,
    nodes: Vec<State>,
    calls: FxHashMap<u64, Pending>,
    numbered_calls: u64,
    subscriptions: Vec<Subscription>,
    numbered_subscriptions: u64,
    /// For how long the next leader is stopped that begins a tick.
    freezes_in_tick_ms: Option<u64>,
}

/// An event and when it is due; the number orders those of one ms.
#[derive(Debug)]
struct Scheduled {
    at_ms: u64,
    number: u64,
    event: Event,
}

#[derive(Debug)]
struct State {
    name: Arc<str>,
    is_up: bool,
    frozen_until_ms: u64,
    thaws_ms: Thaw,
    weather: Weather,
    /// Which of its connections is the current one.
    connection: u64,
    /// When the last request and the last answer of the current connection arrive.
    last_request_ms: u64,
    last_answer_ms: u64,
}

/// When a process that was stopped comes to what waits in each of its sockets, ms.
#[derive(Debug, Clone, Copy, Default)]
struct Thaw {
    requests: u64,
    answers: u64,
    messages: u64,
}

#[derive(Debug)]
struct Pending {
    node: Node,
    connection: u64,
    answer: oneshot::Sender<Result<Value, RedisError>>,
}

#[derive(Debug)]
struct Subscription {
    id: u64,
    node: Node,
    channels: Vec<String>,
    /// When its last message arrives.
    last_ms: u64,
    messages: Option<mpsc::UnboundedSender<Message>>,
}

// === impl Weather ===

impl Default for Weather {
    /// A quiet network.
    fn default() -> Self {
        Self {
            slowest_ms: 2,
            lost_requests: 0.0,
            lost_answers: 0.0,
            lost_messages: 0.0,
            deaf: false,
        }
    }
}

// === impl Network ===

impl Network {
    /// A network with these servers at its end. [`Self::run`] must be running.
    #[must_use]
    pub(crate) fn new(servers: Servers, observer: Observer, chance: Chance) -> Self {
        let inner = Inner {
            servers,
            observer,
            chance,
            events: BinaryHeap::new(),
            scheduled: 0,
            nodes: Vec::new(),
            calls: FxHashMap::default(),
            numbered_calls: 0,
            subscriptions: Vec::new(),
            numbered_subscriptions: 0,
            freezes_in_tick_ms: None,
        };
        let (begun, earlier) = (Instant::now(), Notify::new());
        Self(Arc::new(Shared { begun, inner: Mutex::new(inner), earlier }))
    }

    /// Virtual time since the begin, ms.
    #[must_use]
    pub fn now_ms(&self) -> u64 {
        u64::try_from(self.0.begun.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// True time, ms since 1970: what the server's clock shows unless it jumped.
    #[must_use]
    pub fn true_ms(&self) -> u64 {
        servers::BEGIN_US / 1000 + self.now_ms()
    }

    /// The name of the service at `node`.
    pub(crate) fn name(&self, node: Node) -> Arc<str> {
        Arc::clone(&self.lock().state(node).name)
    }

    /// The next leader that begins a tick is stopped in the middle of it, for so long.
    pub(crate) fn freeze_in_tick(&self, ms: u64) {
        self.lock().freezes_in_tick_ms = Some(ms);
    }

    /// The moment `ms` after the begin.
    #[must_use]
    pub fn moment(&self, ms: u64) -> Instant {
        self.0.begun + Duration::from_millis(ms)
    }

    /// Connects a service called `name`.
    pub(crate) fn connect(&self, name: &str) -> Node {
        let mut inner = self.lock();
        let node = Node(u32::try_from(inner.nodes.len()).unwrap_or(u32::MAX));
        inner.nodes.push(State {
            name: name.into(),
            is_up: true,
            frozen_until_ms: 0,
            thaws_ms: Thaw::default(),
            weather: Weather::default(),
            connection: 0,
            last_request_ms: 0,
            last_answer_ms: 0,
        });
        node
    }

    /// Cuts `node` off for ever. What it has sent may still arrive.
    pub(crate) fn cut_off(&self, node: Node) {
        let mut inner = self.lock();
        inner.state(node).is_up = false;
        inner.break_connections(node);
    }

    /// Neither sends nor delivers anything of `node` before `until_ms`; then all of it at once, in an
    /// order by chance: what a process does that was stopped and goes on.
    pub fn freeze(&self, node: Node, until_ms: u64) {
        self.lock().freeze(node, until_ms);
    }

    /// Until when `node` is frozen, ms.
    pub(crate) fn frozen_until_ms(&self, node: Node) -> u64 {
        self.lock().state(node).frozen_until_ms
    }

    /// Changes how the connections of `node` are.
    pub(crate) fn set_weather(&self, node: Node, weather: Weather) {
        self.lock().state(node).weather = weather;
    }

    /// Breaks the connections of `node`, with its subscriptions; it may open new ones.
    pub(crate) fn break_connections(&self, node: Node) {
        self.lock().break_connections(node);
    }

    /// Looks at the servers, or changes them.
    pub(crate) fn servers<T>(&self, use_them: impl FnOnce(&mut Servers, u64) -> T) -> T {
        let now_ms = self.now_ms();
        use_them(&mut self.lock().servers, now_ms)
    }

    /// The clock of Redis is set: ahead, or back.
    pub fn step_clock(&self, by_ms: i64) {
        self.servers(|servers, _| servers.step_clock(by_ms));
    }

    /// Breaks every connection to the servers.
    pub(crate) fn break_all_connections(&self) {
        let mut inner = self.lock();
        for node in 0..inner.nodes.len() {
            inner.break_connections(Node(u32::try_from(node).unwrap_or(u32::MAX)));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// === impl Inner ===

impl Inner {
    fn state(&mut self, node: Node) -> &mut State {
        &mut self.nodes[node.0 as usize]
    }

    fn freeze(&mut self, node: Node, until_ms: u64) {
        let mut spread = || until_ms + self.chance.within(0..THAW_SPREAD_MS);
        let thaws_ms = Thaw { requests: spread(), answers: spread(), messages: spread() };
        let state = self.state(node);
        if state.frozen_until_ms >= until_ms {
            return;
        }
        (state.frozen_until_ms, state.thaws_ms) = (until_ms, thaws_ms);
        // What comes later on the same connection does not get ahead.
        state.last_request_ms = state.last_request_ms.max(thaws_ms.requests);
        state.last_answer_ms = state.last_answer_ms.max(thaws_ms.answers);
        for subscription in self.subscriptions.iter_mut().filter(|one| one.node == node) {
            subscription.last_ms = subscription.last_ms.max(thaws_ms.messages);
        }
    }

    fn break_connections(&mut self, node: Node) {
        let now = self.state(node);
        now.connection += 1;
        (now.last_request_ms, now.last_answer_ms) = (0, 0);
        let broken: Vec<_> =
            self.calls.iter().filter(|(_, call)| call.node == node).map(|(id, _)| *id).collect();
        for id in broken {
            self.answer(id, Err(failures::broken()));
        }
        for subscription in &mut self.subscriptions {
            if subscription.node == node {
                subscription.messages = None;
            }
        }
        self.subscriptions.retain(|subscription| subscription.messages.is_some());
    }

    /// Wakes the caller of a call that is still waited for.
    fn answer(&mut self, id: u64, answer: Result<Value, RedisError>) {
        if let Some(call) = self.calls.remove(&id) {
            // Nobody listens if the caller has given up.
            let _ = call.answer.send(answer);
        }
    }
}

// === impl Scheduled ===

impl PartialEq for Scheduled {
    fn eq(&self, other: &Self) -> bool {
        (self.at_ms, self.number) == (other.at_ms, other.number)
    }
}

impl Eq for Scheduled {}

impl PartialOrd for Scheduled {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Scheduled {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at_ms, self.number).cmp(&(other.at_ms, other.number))
    }
}
