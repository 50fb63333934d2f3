//! The link to a server that Sentinels watch: they are asked which server is the primary, and when they say
//! that it is another one, everything moves there.
//!
//! - All Sentinels are asked at once. As soon as most of them have answered, the answer counts that knows of
//!   the last fail-over, and only if the server itself says that it is a primary.
//! - A primary is left when a call to it breaks, when it says that it is a replica, and when a Sentinel
//!   says that another took over: each of them is listened to. The last is what ends the time of a primary
//!   that was cut off from everyone but us. Its subscriptions end with it.
//! - When another took over, calls under way to the old one fail at once, and a search that hangs at it begins
//!   anew. As long as no primary is found, every call looks for it once, and fails. Nothing is sent again.
//! - Replicas are never read.
//!
//! redis-rs's client for Sentinels and deadpool's pool over it are not used: they ask one Sentinel after the
//! other, with time-outs of their own, so one that hangs delays every fail-over; they take the first
//! answer even if it is old; and they do not listen.

mod watcher;

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use futures_util::{StreamExt, future::BoxFuture, stream::FuturesUnordered};
use redis::{Cmd, RedisError, RedisFuture, Value};
use tokio::{
    sync::{Mutex, Notify},
    task::JoinSet,
    time::{Instant, sleep},
};

use self::watcher::{Told, Watcher, switched};
use super::{
    Answers, Link, Messages,
    access::Access,
    address::{Credentials, Host},
    failures::{leaves_server, timed_out},
    node::NodeLink,
    opener::Expected,
    replicated::Shortfalls,
    subscription::Kind,
};

/// Between two attempts to listen to a Sentinel.
const PAUSE: Duration = Duration::from_millis(500);

/// A primary that is found by Sentinels.
#[derive(Debug)]
pub(super) struct SentinelLink {
    shared: Arc<Shared>,
    /// Listen to the Sentinels; they end with the link.
    listening: OnceLock<JoinSet<()>>,
}

#[derive(Debug)]
struct Shared {
    watchers: Vec<Watcher>,
    /// How the Sentinels call the primary.
    master: String,
    access: Access,
    current: Mutex<Current>,
    /// A Sentinel has told of a fail-over.
    switched: Notify,
    shortfalls: Arc<Shortfalls>,
}

#[derive(Debug, Default)]
struct Current {
    primary: Option<Arc<NodeLink>>,
    /// When the last search failed, and how.
    failed: Option<(Instant, RedisError)>,
    /// Where the last one was, to log a change once.
    last: Option<Host>,
}

// === impl SentinelLink ===

impl SentinelLink {
    /// Nothing is connected yet. `own`: the credentials of the Sentinels, if they differ.
    pub(super) fn new(
        sentinels: &[Host],
        master: &str,
        own: Option<&Credentials>,
        access: &Access,
    ) -> Self {
        let watcher = |host: &Host| Watcher::new(host.clone(), access, own);
        let shared = Shared {
            watchers: sentinels.iter().map(watcher).collect(),
            master: master.to_owned(),
            access: access.clone(),
            current: Mutex::default(),
            switched: Notify::new(),
            shortfalls: Arc::default(),
        };
        Self { shared: Arc::new(shared), listening: OnceLock::new() }
    }

    async fn ask(&self, command: &Cmd, replicated: bool) -> Result<Value, RedisError> {
        let primary = self.primary().await?;
        let asked = async {
            let connected = primary.connect().await?;
            if replicated {
                primary.ask_replicated(connected, command, false).await
            } else {
                primary.ask_on(connected, command, false).await
            }
        };
        let reply = tokio::select! {
            biased;
            reply = asked => reply,
            // Nobody will answer for the old one, and what it still does is lost.
            () = primary.is_abandoned() => Err(timed_out("another server took over")),
        };
        if let Err(error) = &reply
            && leaves_server(error)
        {
            self.shared.leave(&primary, error).await;
        }
        reply
    }

    async fn listen<T: AsRef<str>>(
        &self,
        kind: Kind,
        channels: &[T],
    ) -> Result<Messages, RedisError> {
        let primary = self.primary().await?;
        let messages = primary.subscribe(kind, channels).await;
        if let Err(error) = &messages
            && leaves_server(error)
        {
            self.shared.leave(&primary, error).await;
        }
        messages
    }

    async fn primary(&self) -> Result<Arc<NodeLink>, RedisError> {
        self.listening.get_or_init(|| {
            let mut listening = JoinSet::new();
            for index in 0..self.shared.watchers.len() {
                listening.spawn(listen_to(Arc::clone(&self.shared), index));
            }
            listening
        });
        self.shared.primary().await
    }
}

/// Moves away from a primary when the Sentinel says so.
async fn listen_to(shared: Arc<Shared>, index: usize) {
    let watcher = &shared.watchers[index];
    loop {
        match watcher.switches().await {
            Ok(mut switches) => {
                // What was told before is not heard any more.
                if let Ok(told) = watcher.primary(&shared.master).await {
                    shared.check(&told).await;
                }
                while let Some(message) = switches.next().await {
                    if let Some(primary) = switched(&shared.master, &message.payload) {
                        shared.moved_to(&primary).await;
                    }
                }
            }
            Err(error) => tracing::debug!(sentinel = %watcher.host, %error, "not heard"),
        }
        sleep(PAUSE).await;
    }
}

// === impl Shared ===

impl Shared {
    /// The primary, found anew if it was left.
    async fn primary(&self) -> Result<Arc<NodeLink>, RedisError> {
        let asked_at = Instant::now();
        let mut current = self.current.lock().await;
        if let Some(primary) = &current.primary {
            return Ok(Arc::clone(primary));
        }
        // As in `NodeLink::connect`: who waited during a failed search shares its error.
        if let Some((at, error)) = &current.failed
            && *at >= asked_at
        {
            return Err(error.clone());
        }
        let found = loop {
            let switched = self.switched.notified();
            tokio::select! {
                biased;
                found = self.find() => break found,
                // The old one may hang, and the search with it.
                () = switched => {}
            }
        };
        match found {
            Ok(primary) => {
                if current.last.as_ref() != Some(&primary.host) {
                    tracing::info!(server = %primary.host, "the primary, as the Sentinels say");
                }
                current.last = Some(primary.host.clone());
                current.primary = Some(Arc::clone(&primary));
                Ok(primary)
            }
            Err(error) => {
                current.failed = Some((Instant::now(), error.clone()));
                Err(error)
            }
        }
    }

    /// The server that the Sentinels name, if it says itself that it is a primary.
    async fn find(&self) -> Result<Arc<NodeLink>, RedisError> {
        let mut answers: FuturesUnordered<_> =
            self.watchers.iter().map(|watcher| watcher.primary(&self.master)).collect();
        let most = self.watchers.len() / 2 + 1;
        let (mut told, mut last) = (Vec::<Told>::new(), None);
        while let Some(answer) = answers.next().await {
            match answer {
                Ok(answer) => told.push(answer),
                Err(error) => last = Some(error),
            }
            if told.len() >= most {
                break;
            }
        }
        told.sort();
        told.dedup_by(|one, other| one.primary == other.primary);
        while let Some(Told { primary, .. }) = told.pop() {
            match self.connect(primary).await {
                Ok(primary) => return Ok(primary),
                Err(error) => last = Some(error),
            }
        }
        let nobody = || std::io::Error::other("no Sentinel is named").into();
        Err(last.unwrap_or_else(nobody))
    }

    async fn connect(&self, host: Host) -> Result<Arc<NodeLink>, RedisError> {
        let node = NodeLink::new(host, &self.access, Expected::Primary, &self.shortfalls)?;
        node.connect().await?;
        Ok(Arc::new(node))
    }

    /// Leaves `primary`, unless that was done already. The next call looks where it is now.
    async fn leave(&self, primary: &Arc<NodeLink>, why: &RedisError) {
        let mut current = self.current.lock().await;
        if current.primary.as_ref().is_some_and(|found| Arc::ptr_eq(found, primary)) {
            tracing::warn!(server = %primary.host, error = %why, "the Sentinels are asked again");
            current.primary = None;
            primary.leave();
        }
    }

    /// A Sentinel says that `primary` is the one.
    async fn moved_to(&self, primary: &Host) {
        self.switched.notify_waiters();
        let mut current = self.current.lock().await;
        if let Some(left) = current.primary.take_if(|found| found.host != *primary) {
            tracing::warn!(server = %left.host, %primary, "another server took over");
            left.abandon();
        }
    }

    /// What one Sentinel says unasked may be old, so most of them are asked if it differs.
    async fn check(&self, told: &Told) {
        let differs = {
            let current = self.current.lock().await;
            current.primary.as_ref().is_some_and(|found| found.host != told.primary)
        };
        if differs && let Ok(found) = self.find().await {
            self.moved_to(&found.host).await;
        }
    }
}

impl Link for SentinelLink {
    fn call<'a>(&'a self, command: &'a Cmd) -> RedisFuture<'a, Value> {
        Box::pin(self.ask(command, false))
    }

    fn call_replicated<'a>(&'a self, command: &'a Cmd) -> RedisFuture<'a, Value> {
        Box::pin(self.ask(command, true))
    }

    fn call_each<'a>(&'a self, command: &'a Cmd) -> BoxFuture<'a, Answers> {
        Box::pin(async move {
            let answer = self.ask(command, false).await;
            let current = self.shared.current.lock().await;
            let name = current.last.as_ref().map_or_else(String::new, Host::to_string);
            vec![(name, answer)]
        })
    }

    fn subscribe<'a>(
        &'a self,
        channels: &'a [&'a str],
    ) -> BoxFuture<'a, Result<Messages, RedisError>> {
        Box::pin(self.listen(Kind::Everywhere, channels))
    }

    fn subscribe_sharded<'a>(
        &'a self,
        channels: &'a [String],
    ) -> BoxFuture<'a, Result<Messages, RedisError>> {
        Box::pin(self.listen(Kind::Sharded, channels))
    }

    fn replica_shortfalls(&self) -> u64 {
        self.shared.shortfalls.count()
    }
}
