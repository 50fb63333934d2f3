//! The model of Redis at the end of a store's link: no network, every call is answered at once.
//! It keeps its own clock, as a server does, whatever time the test is at.

use std::sync::{
    Mutex, MutexGuard, PoisonError,
    atomic::{AtomicI64, AtomicUsize, Ordering},
};

use futures_util::{StreamExt, future::BoxFuture, stream};
use redis::{Cmd, RedisError, RedisFuture, Value};
use tokio::{sync::mpsc, time::Instant};
use vestibule_redis_model::{Dialect, Dump, Engine, Options, Server, wire};
use vestibule_store::{Link, Message, Messages};

use crate::world::START_MS;

/// The link to a model.
#[derive(Debug)]
pub(crate) struct Model {
    begun: Instant,
    /// By how much its clock was set forward, ms.
    set_ms: AtomicI64,
    /// So many more times another server without scripts takes its place once it was given one.
    replaced: AtomicUsize,
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    server: Server,
    subscriptions: Vec<Subscription>,
}

#[derive(Debug)]
struct Subscription {
    channels: Vec<String>,
    messages: mpsc::UnboundedSender<Message>,
}

// === impl Model ===

impl Model {
    /// An empty server. Scripts may touch no key but those that they were given.
    pub(crate) fn new(engine: Engine, dialect: Dialect) -> Self {
        let server = Server::new(engine, Options { dialect, ..Options::default() });
        let inner = Mutex::new(Inner { server, subscriptions: Vec::new() });
        let (set_ms, replaced) = (AtomicI64::new(0), AtomicUsize::new(0));
        Self { begun: Instant::now(), set_ms, replaced, inner }
    }

    /// The next times that it is given a script, another server takes its place, which holds the same and does not know
    /// the script.
    pub(crate) fn is_replaced_when_given_a_script(&self, times: usize) {
        self.replaced.store(times, Ordering::SeqCst);
    }

    /// Somebody sets its clock forward, or back.
    pub(crate) fn is_set(&self, by_ms: i64) {
        self.set_ms.fetch_add(by_ms, Ordering::SeqCst);
    }

    /// Refuses by this error what its code says, from now on; `None`: nothing.
    pub(crate) fn refuses(&self, error: Option<&str>) {
        self.lock().server.refuse(error);
    }

    /// Is the process with this id.
    pub(crate) fn is_run(&self, run_id: &str) {
        run_id.clone_into(&mut self.lock().server.options_mut().run_id);
    }

    /// What the server answers; an error that it answered is an error.
    pub(crate) fn ask(&self, command: &Cmd) -> Result<Value, RedisError> {
        let words = wire::words(command);
        let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
        let mut inner = self.lock();
        let reply = inner.server.call(self.now(), &words);
        for message in inner.server.take_messages() {
            inner.publish(&message);
        }
        if words[0] == b"SCRIPT" && self.is_replaced_now() {
            let run_id = inner.server.options().run_id.clone();
            inner.server.restart(&run_id);
        }
        wire::value(reply)?.extract_error()
    }

    /// Everything that the server holds, and its time, ms.
    pub(crate) fn dump(&self) -> (Dump, u64) {
        let now = self.now();
        let mut inner = self.lock();
        inner.server.expire(now);
        (inner.server.keyspace().dump(), now / 1000)
    }

    /// The server's time, µs since 1970.
    fn now(&self) -> u64 {
        let set_ms = START_MS.strict_add_signed(self.set_ms.load(Ordering::SeqCst));
        set_ms * 1000 + u64::try_from(self.begun.elapsed().as_micros()).unwrap()
    }

    fn is_replaced_now(&self) -> bool {
        let one_less = |times: usize| times.checked_sub(1);
        self.replaced.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less).is_ok()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Link for Model {
    fn call<'a>(&'a self, command: &'a Cmd) -> RedisFuture<'a, Value> {
        Box::pin(async { self.ask(command) })
    }

    fn subscribe<'a>(
        &'a self,
        channels: &'a [&'a str],
    ) -> BoxFuture<'a, Result<Messages, RedisError>> {
        let (messages, received) = mpsc::unbounded_channel();
        let channels = channels.iter().map(|channel| (*channel).to_owned()).collect();
        self.lock().subscriptions.push(Subscription { channels, messages });
        let next = |mut received: mpsc::UnboundedReceiver<_>| async move {
            received.recv().await.map(|message| (message, received))
        };
        Box::pin(async move { Ok(stream::unfold(received, next).boxed()) })
    }
}

// === impl Inner ===

impl Inner {
    /// Sends a message to those who subscribe and still listen.
    fn publish(&mut self, message: &vestibule_redis_model::Message) {
        let (channel, payload) = message.texts();
        let message = Message { channel, payload };
        self.subscriptions.retain(|subscription| {
            !subscription.channels.contains(&message.channel)
                || subscription.messages.send(message.clone()).is_ok()
        });
    }
}
