//! One round of one webhook, of one stream: the next events, and what is left of lanes that are tried again. Those that it
//! wants are sent, the lanes beside each other. What follows is decided by [`super::settle`].

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use futures_util::{StreamExt, stream};
use tokio::time::Instant;
use vestibule_domain::webhook::{Cause, Delivery, EventStream, Follows, Webhook};
use vestibule_issuance::Outbox;
use vestibule_store::{KeptEvent, Store, StoreError};
use vestibule_token::WebhookSecret;

use super::{
    Envelope, Sent, WebhookClient, WebhookMetrics,
    lanes::{self, Lane},
    settle::{Done, Round, Voice},
};

/// After so long a round begins to send nothing more: how far it got is to be noted, and secrets change.
const ROUND: Duration = Duration::from_secs(30);

/// One webhook, to be told.
#[derive(Debug)]
pub(crate) struct Telling<'a> {
    /// Its name.
    pub(crate) name: &'a str,
    /// Of which events.
    pub(crate) stream: EventStream,
    /// The webhook.
    pub(crate) webhook: &'a Webhook,
    /// What its events are signed with.
    pub(crate) secrets: &'a [WebhookSecret],
    /// By whom it is told.
    pub(crate) client: &'a WebhookClient,
    /// Who knows whether it has changed meanwhile.
    pub(crate) outbox: &'a Outbox,
    /// Where attempts are counted.
    pub(crate) metrics: &'a WebhookMetrics,
}

/// The time within a round, and whether somebody is there.
struct Pace {
    /// When it began, ms; and by the server's clock: receivers compare when an event was signed with their own.
    began_ms: u64,
    server_ms: u64,
    began: Instant,
    is_away: AtomicBool,
}

// === impl Telling ===

impl Telling<'_> {
    /// One round at `now_ms`. Notes in `delivery` what came of it; `chance`: a number by chance for each failure.
    ///
    /// # Errors
    /// If the events cannot be read.
    pub(crate) async fn round(
        &self,
        store: &Store,
        delivery: &mut Delivery,
        now_ms: u64,
        chance: impl Fn() -> u64,
    ) -> Result<Round, StoreError> {
        let Some(events) = self.read(store, delivery, now_ms).await? else {
            return Ok(Round::Idle);
        };
        let whose = (self.webhook, self.stream);
        let fresh = lanes::sort(&events, whose, delivery);
        let mut lanes = lanes::due(store, whose, delivery, now_ms).await?;
        lanes.extend(fresh);
        if events.is_empty() && lanes.is_empty() {
            return Ok(Round::Idle);
        }
        let pace = Pace {
            began_ms: now_ms,
            server_ms: store.server_now_ms().await?,
            began: Instant::now(),
            is_away: AtomicBool::new(false),
        };
        let done = stream::iter(lanes).map(|lane| self.send(lane, &pace));
        let done: Vec<_> = done.buffer_unordered(self.at_once()).collect().await;
        let voice = Voice { webhook: self.name, metrics: self.metrics };
        let round = voice.settle(done, delivery, pace.now_ms(), chance);
        let places: Vec<_> = events.into_iter().map(|kept| kept.place).collect();
        delivery.advance(&places);
        Ok(round)
    }

    /// The most events of a round: so many may be sent once more if this controller dies. And how many are sent at the
    /// same time.
    const fn sizes(&self) -> (usize, usize) {
        match self.stream {
            EventStream::Main => (64, 8),
            EventStream::Visitors => (256, 32),
        }
    }

    const fn at_once(&self) -> usize {
        self.sizes().1
    }

    /// What follows the cursor; `None`: that was taken back.
    async fn read(
        &self,
        store: &Store,
        delivery: &mut Delivery,
        now_ms: u64,
    ) -> Result<Option<Vec<KeptEvent>>, StoreError> {
        let (stream, cursor) = (self.stream, &delivery.cursor);
        let (events, is_there) = store.read_events(stream, cursor, self.sizes().0).await?;
        if events.is_empty() && is_there {
            return Ok(Some(events));
        }
        let last = if events.is_empty() { store.last_event(stream).await? } else { None };
        let first = events.first().map(|kept| &kept.place);
        let webhook = self.name;
        match cursor.followed_by(first, last.as_ref()) {
            Follows::Directly => {}
            Follows::WithGap => {
                tracing::warn!(webhook, "events were forgotten before a webhook was told");
                delivery.miss(now_ms);
            }
            Follows::Not => {
                tracing::warn!(
                    webhook,
                    "redis has lost events: a webhook is told all that are left"
                );
                delivery.rewind(now_ms);
                return Ok(None);
            }
        }
        Ok(Some(events))
    }

    /// Sends the events of a lane, up to the first that is not told.
    async fn send(&self, lane: Lane, pace: &Pace) -> Done {
        let mut done = Done { lane, told: 0, failed: None };
        for (_, kept) in &done.lane.events {
            if pace.is_over() || !self.is_current() {
                break;
            }
            let timestamp = pace.server_now_ms() / 1_000;
            let envelope = Envelope { id: &kept.event.id, timestamp, body: &kept.event.body };
            let sent = self.client.send(self.webhook, self.secrets, envelope).await;
            let is_told = matches!(sent, Sent::Told(_));
            self.metrics.count(self.name, is_told);
            if !is_told {
                pace.see(&sent);
                done.failed = Some(sent);
                break;
            }
            done.told += 1;
        }
        done
    }

    /// Whether it is still to be told, so, and by these secrets.
    fn is_current(&self) -> bool {
        let known = self.outbox.known();
        let webhook = known.set.webhooks.get(self.name);
        webhook.is_some_and(|it| it.is_on() && it.revision == self.webhook.revision)
    }
}

// === impl Pace ===

impl Pace {
    fn now_ms(&self) -> u64 {
        self.began_ms + self.elapsed_ms()
    }

    fn server_now_ms(&self) -> u64 {
        self.server_ms + self.elapsed_ms()
    }

    fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(0)
    }

    fn is_over(&self) -> bool {
        self.is_away.load(Ordering::Relaxed) || self.began.elapsed() >= ROUND
    }

    fn see(&self, sent: &Sent) {
        if let Sent::Failed { status, .. } = sent
            && Cause::of(*status) == Cause::Away
        {
            self.is_away.store(true, Ordering::Relaxed);
        }
    }
}
