//! Tells one webhook of one stream of events, until it is switched off, deleted, or another controller leads. How far it
//! was told is in Redis, so whoever leads next goes on there; what was sent and not noted is sent once more, under the same
//! id.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::time::{Instant, sleep};
use vestibule_domain::webhook::{Delivery, EventStream, Retry, Webhook};
use vestibule_runtime::Sparingly;
use vestibule_store::StoreError;

use crate::{
    state::Controller,
    webhooks::{Round, WebhookError, WebhookMetrics, batch::Telling},
};

/// Between two looks while there is nothing to be told.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// That it cannot go on is said at most once in this time.
const SAY: Duration = Duration::from_mins(1);

/// Tells one webhook.
#[derive(Debug)]
pub(super) struct Deliverer {
    /// The leader's term, which may be another one as long as it leads on.
    epoch: Arc<AtomicU64>,
    name: String,
    stream: EventStream,
    metrics: WebhookMetrics,
    failures: Sparingly,
}

/// How far it was told, and what Redis has of that; `None`: nothing.
struct Progress {
    now: Delivery,
    noted: Option<Delivery>,
}

// === impl Deliverer ===

impl Deliverer {
    pub(super) fn new(
        epoch: Arc<AtomicU64>,
        name: String,
        stream: EventStream,
        metrics: WebhookMetrics,
    ) -> Self {
        Self { epoch, name, stream, metrics, failures: Sparingly::new(SAY) }
    }

    /// Tells it for as long as it is on.
    pub(super) async fn run(mut self, controller: &Arc<Controller>) {
        let mut progress: Option<Progress> = None;
        loop {
            let known = controller.outbox.known();
            let Some(webhook) = known.set.webhooks.get(&self.name).filter(|it| it.is_on()) else {
                return;
            };
            match self.step(controller, webhook, &mut progress).await {
                Ok(Round::Went) => continue,
                Ok(Round::Idle) => {}
                Ok(Round::Gone | Round::Off(_)) => return,
                Err(error) => self.say(&error),
            }
            sleep(LOOK_EVERY).await;
        }
    }

    /// One round, if it is time for one.
    async fn step(
        &self,
        controller: &Controller,
        webhook: &Webhook,
        progress: &mut Option<Progress>,
    ) -> Result<Round, WebhookError> {
        let known = match progress.take() {
            Some(known) => known,
            None => self.read(controller, webhook).await?,
        };
        let now = known.now.go_on(webhook, self.stream);
        let progress = progress.insert(Progress { now, ..known });
        // What was not noted after the last round is, before anything more is sent.
        self.note(controller, progress).await?;
        let now_ms = controller.store.now_ms().await?;
        if now_ms < progress.now.next_at_ms {
            return Ok(Round::Idle);
        }
        let round = self.round(controller, webhook, &mut progress.now, now_ms).await?;
        self.metrics.fails(&self.name, self.stream, progress.now.failed());
        let round = match round {
            Round::Off(why) => self.consider(controller, (webhook, why), &mut progress.now).await?,
            round => round,
        };
        self.note(controller, progress).await?;
        let why = match &round {
            Round::Idle | Round::Went => return Ok(round),
            Round::Gone => "it answered 410 Gone",
            Round::Off(why) => why,
        };
        let now_ms = controller.store.now_ms().await?;
        controller.webhooks.disable(&self.name, webhook.revision, why, now_ms).await?;
        tracing::error!(webhook = self.name, reason = why, "a webhook was switched off");
        Ok(round)
    }

    async fn round(
        &self,
        controller: &Controller,
        webhook: &Webhook,
        delivery: &mut Delivery,
        now_ms: u64,
    ) -> Result<Round, WebhookError> {
        let chance = || controller.webhooks.chance();
        let secrets = controller.webhooks.secrets(&self.name, webhook, now_ms / 1_000);
        let secrets = match secrets {
            Ok(secrets) => secrets,
            Err(WebhookError::Secret(error)) => {
                let why = error.to_string();
                let retry = delivery.fail(now_ms, &why, None, chance());
                return Ok(if retry == Retry::GiveUp { Round::Off(why) } else { Round::Idle });
            }
            Err(error) => return Err(error),
        };
        let telling = Telling {
            name: &self.name,
            stream: self.stream,
            webhook,
            secrets: &secrets,
            client: &controller.webhook_client,
            outbox: &controller.outbox,
            metrics: &self.metrics,
        };
        Ok(telling.round(&controller.store, delivery, now_ms, chance).await?)
    }

    /// Whether it is to be switched off. If events of the other stream are taken it is not: then what is here is not
    /// wanted, and left out.
    async fn consider(
        &self,
        controller: &Controller,
        (webhook, why): (&Webhook, String),
        delivery: &mut Delivery,
    ) -> Result<Round, WebhookError> {
        let others = EventStream::ALL.into_iter().filter(|stream| *stream != self.stream);
        let noted = controller.store.deliveries().await?;
        let takes = |stream: EventStream| {
            let text = noted.get(&stream.noted_as(&self.name))?;
            let other: Delivery = serde_json::from_str(text).ok()?;
            let other = other.go_on(webhook, stream);
            Some(other.last_told_ms >= delivery.failing_since_ms)
        };
        if !others.filter_map(takes).any(|takes| takes) {
            return Ok(Round::Off(why));
        }
        tracing::error!(
            webhook = self.name,
            reason = why,
            "events were not taken for a day: they are left out"
        );
        let (last, now_ms) =
            (controller.store.last_event(self.stream).await?, controller.store.now_ms().await?);
        delivery.skip(last.unwrap_or_default(), now_ms);
        Ok(Round::Went)
    }

    async fn read(
        &self,
        controller: &Controller,
        webhook: &Webhook,
    ) -> Result<Progress, WebhookError> {
        let noted = controller.store.deliveries().await?.remove(&self.stream.noted_as(&self.name));
        let noted: Option<Delivery> = noted.and_then(|text| serde_json::from_str(&text).ok());
        let now = noted.clone().unwrap_or_else(|| Delivery::begin(webhook, self.stream));
        Ok(Progress { now, noted })
    }

    /// Notes how far it was told, if that is not in Redis yet.
    async fn note(
        &self,
        controller: &Controller,
        progress: &mut Progress,
    ) -> Result<(), WebhookError> {
        if progress.noted.as_ref() == Some(&progress.now) {
            return Ok(());
        }
        let text = serde_json::to_string(&progress.now).map_err(WebhookError::Text)?;
        let (epoch, name) = (self.epoch.load(Ordering::Relaxed), self.stream.noted_as(&self.name));
        match controller.store.note_delivery(epoch, &name, &text).await {
            Err(StoreError::Fenced { epoch: by }) => {
                controller.leadership.overtaken(epoch, by);
                Err(StoreError::Fenced { epoch: by }.into())
            }
            noted => {
                noted?;
                progress.noted = Some(progress.now.clone());
                Ok(())
            }
        }
    }

    fn say(&mut self, error: &WebhookError) {
        if let Some(times) = self.failures.note(Instant::now()) {
            tracing::warn!(webhook = self.name, %error, times, "a webhook could not be told");
        }
    }
}
