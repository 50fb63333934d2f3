//! What a service tells webhooks: it knows who is told of what, and writes events down for the controller that leads,
//! which sends them. Where nobody is told of something, that costs one look into this instance's memory.
//!
//! Events are written shortly after what they tell of has happened, so one that has happened in a service's last moment
//! before it was killed may be missing. What was written may be written twice; it has the same id then.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock},
    time::Duration,
};

use serde::Serialize;
use tokio::time::{Instant, sleep};
use vestibule_domain::{
    schedule::moment,
    webhook::{EventKind, EventStream, Webhooks},
};
use vestibule_runtime::{
    Lifecycle, Random, Sparingly,
    metrics::{Registry, prometheus_client::metrics::counter::Counter},
};
use vestibule_store::{MOST_EVENTS, OutgoingEvent, Store, StoreError};

/// How often it is looked who is told of what.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How often events are written, if there are any.
const SEND_EVERY: Duration = Duration::from_millis(100);
/// The most events of one call.
const BATCH: usize = 500;
/// The most events that wait to be written.
const MOST_WAITING: usize = 20_000;
/// Failures are said at most once in this time.
const SAY: Duration = Duration::from_secs(10);

/// The events of a service. Cloning is cheap.
#[derive(Debug, Clone)]
pub struct Outbox(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    store: Store,
    random: Random,
    known: RwLock<Arc<KnownWebhooks>>,
    waiting: Mutex<VecDeque<OutgoingEvent>>,
    dropped: Counter,
    failures: Mutex<Sparingly>,
}

/// The webhooks, as this instance knows them.
#[derive(Debug, Default)]
pub struct KnownWebhooks {
    /// What Redis has, as it is there.
    pub text: Option<String>,
    /// The latest that was ever read.
    pub set: Webhooks,
    /// Redis has an earlier state, or none: it has lost something.
    pub is_lost: bool,
}

/// What is sent, as Standard Webhooks recommends; and of which room it is, which the data of the original's events do not
/// always say.
#[derive(Serialize)]
struct Body<'a, T> {
    r#type: &'a str,
    timestamp: String,
    #[serde(skip_serializing_if = "str::is_empty")]
    room: &'a str,
    data: T,
}

// === impl Outbox ===

impl Outbox {
    /// Writes to `store`; names events by `random`.
    #[must_use]
    pub fn new(store: Store, random: Random) -> Self {
        Self(Arc::new(Inner {
            store,
            random,
            known: RwLock::default(),
            waiting: Mutex::default(),
            dropped: Counter::default(),
            failures: Mutex::new(Sparingly::new(SAY)),
        }))
    }

    /// Registers what is told of it.
    pub fn register(&self, registry: &mut Registry) {
        let help = "Events for webhooks that could not be written down";
        registry.register("webhook_events_dropped", help, self.0.dropped.clone());
    }

    /// Looks who is told, and writes events, until the last request was answered.
    pub fn spawn(&self, lifecycle: &Lifecycle) {
        let (outbox, drained) = (self.clone(), lifecycle.drained().clone());
        lifecycle.spawn("outbox", async move {
            tokio::select! {
                biased;
                () = drained.cancelled() => {}
                () = outbox.run() => {}
            }
            outbox.send().await;
        });
    }

    async fn run(&self) {
        let mut looked: Option<Instant> = None;
        loop {
            if looked.is_none_or(|at| at.elapsed() >= LOOK_EVERY) {
                if let Err(error) = self.look().await {
                    tracing::debug!(%error, "the webhooks could not be read");
                }
                looked = Some(Instant::now());
            }
            self.send().await;
            sleep(SEND_EVERY).await;
        }
    }

    /// The webhooks, as they were read last.
    #[must_use]
    pub fn known(&self) -> Arc<KnownWebhooks> {
        Arc::clone(&self.0.known.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads the webhooks.
    ///
    /// # Errors
    /// See [`StoreError`]; also if they cannot be understood.
    pub async fn look(&self) -> Result<(), StoreError> {
        let text = self.0.store.webhooks().await?;
        if text != self.known().text {
            let set = text.as_deref().map_or_else(|| Ok(Webhooks::default()), read)?;
            self.take(text, set);
        }
        Ok(())
    }

    /// Takes in what was read, or written.
    pub fn take(&self, text: Option<String>, set: Webhooks) {
        let mut known = self.0.known.write().unwrap_or_else(PoisonError::into_inner);
        let is_lost = set.revision < known.set.revision;
        let set = if is_lost { known.set.clone() } else { set };
        *known = Arc::new(KnownWebhooks { text, set, is_lost });
    }

    /// Whether somebody is told of such an event of this room; empty: of none.
    #[must_use]
    pub fn wants(&self, kind: EventKind, room: &str) -> bool {
        let known = self.0.known.read().unwrap_or_else(PoisonError::into_inner);
        known.set.wants(kind, room)
    }

    /// Has it told that something has happened at `at_ms`, if somebody is told of it.
    pub fn post(&self, kind: EventKind, room: &str, at_ms: u64, data: impl Serialize) {
        if !self.wants(kind, room) {
            return;
        }
        let event = self.event(kind.name(), room, at_ms, data);
        let mut waiting = self.waiting();
        if waiting.len() < MOST_WAITING {
            waiting.push_back(event);
        } else {
            self.0.dropped.inc();
        }
    }

    /// What is sent of something that has happened at `at_ms`. It has a name of its own.
    #[must_use]
    pub fn event(&self, kind: &str, room: &str, at_ms: u64, data: impl Serialize) -> OutgoingEvent {
        let timestamp = moment::write(at_ms / 1_000).unwrap_or_default();
        // It consists of texts and numbers.
        let body = serde_json::to_string(&Body { r#type: kind, timestamp, room, data });
        let number = || self.0.random.number();
        OutgoingEvent {
            id: format!("msg_{:016x}{:016x}", number(), number()),
            kind: kind.to_owned(),
            room: room.to_owned(),
            body: body.unwrap_or_default(),
        }
    }

    /// Writes what waits. What Redis does not take waits on.
    async fn send(&self) {
        loop {
            let events: Vec<_> = self.waiting().iter().take(BATCH).cloned().collect();
            if events.is_empty() {
                return;
            }
            if let Err(error) = self.write(&events).await {
                let mut failures = self.0.failures.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(times) = failures.note(Instant::now()) {
                    tracing::warn!(%error, times, "events for webhooks could not be written down");
                }
                return;
            }
            self.waiting().drain(..events.len());
        }
    }

    async fn write(&self, events: &[OutgoingEvent]) -> Result<(), StoreError> {
        let is_of = |stream| move |event: &&OutgoingEvent| EventStream::of(&event.kind) == stream;
        for stream in EventStream::ALL {
            let events: Vec<_> = events.iter().filter(is_of(stream)).cloned().collect();
            if !events.is_empty() {
                self.0.store.post_events(stream, &events, MOST_EVENTS).await?;
            }
        }
        Ok(())
    }

    fn waiting(&self) -> MutexGuard<'_, VecDeque<OutgoingEvent>> {
        self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn read(text: &str) -> Result<Webhooks, StoreError> {
    serde_json::from_str(text).map_err(|error| StoreError::Unexpected(error.to_string().into()))
}
