//! Tells one webhook, until it is switched off, deleted, or another controller leads. How far it was told is in Redis, so
//! whoever leads next goes on there; what was sent and not noted is sent once more, under the same id.

use std::{sync::Arc, time::Duration};

use tokio::time::sleep;
use vestibule_domain::webhook::{Delivery, Retry, Webhook};
use vestibule_store::StoreError;

use crate::{
    state::Controller,
    webhooks::{
        WebhookError, WebhookMetrics,
        batch::{Round, Telling},
    },
};

/// Between two looks while there is nothing to be told.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Tells one webhook.
#[derive(Debug)]
pub(super) struct Deliverer {
    epoch: u64,
    name: String,
    metrics: WebhookMetrics,
}

/// Forgets how far webhooks were told that are no more.
pub(super) async fn forget_deleted(
    controller: &Controller,
    epoch: u64,
) -> Result<(), WebhookError> {
    let set = controller.webhooks.all().await?;
    let noted = controller.store.deliveries().await?;
    for name in noted.keys().filter(|name| !set.webhooks.contains_key(*name)) {
        controller.store.note_delivery(epoch, name, None).await?;
    }
    Ok(())
}

// === impl Deliverer ===

impl Deliverer {
    pub(super) fn new(epoch: u64, name: String, metrics: WebhookMetrics) -> Self {
        Self { epoch, name, metrics }
    }

    /// Tells it for as long as it is on; returns its name.
    pub(super) async fn run(self, controller: &Arc<Controller>) -> String {
        let mut delivery: Option<Delivery> = None;
        loop {
            let known = controller.outbox.known();
            let Some(webhook) = known.set.webhooks.get(&self.name).filter(|it| it.is_on()) else {
                return self.name;
            };
            match self.step(controller, webhook, &mut delivery).await {
                Ok(Round::Told) => continue,
                Ok(Round::Idle | Round::Failed { .. }) => {}
                Ok(Round::Gone) => return self.name,
                Err(WebhookError::Store(StoreError::Fenced { epoch: by })) => {
                    controller.leadership.overtaken(self.epoch, by);
                    return self.name;
                }
                Err(error) => {
                    tracing::warn!(webhook = self.name, %error, "a webhook could not be told");
                }
            }
            sleep(LOOK_EVERY).await;
        }
    }

    /// One round, if it is time for one.
    async fn step(
        &self,
        controller: &Controller,
        webhook: &Webhook,
        known: &mut Option<Delivery>,
    ) -> Result<Round, WebhookError> {
        let before = match known.take() {
            Some(delivery) => delivery,
            None => self.read(controller, webhook).await?,
        };
        let delivery = known.insert(before.clone().go_on(webhook));
        let now_ms = controller.store.now_ms().await?;
        if now_ms < delivery.next_at_ms {
            return Ok(Round::Idle);
        }
        let secrets = controller.webhooks.secrets(&self.name, webhook, now_ms / 1_000)?;
        let (name, client, metrics) = (&*self.name, &controller.webhook_client, &self.metrics);
        let telling = Telling { name, webhook, secrets: &secrets, client, metrics };
        let round = telling.round(&controller.store, delivery, now_ms).await?;
        let why = self.judge(controller, &round, delivery).await?;
        self.metrics.fails(&self.name, delivery.failures);
        if *delivery != before {
            self.note(controller, delivery).await?;
        }
        if let Some(why) = why {
            return self.disable(controller, webhook, &why, now_ms).await;
        }
        Ok(round)
    }

    async fn read(
        &self,
        controller: &Controller,
        webhook: &Webhook,
    ) -> Result<Delivery, WebhookError> {
        let noted = controller.store.deliveries().await?.remove(&self.name);
        let noted = noted.and_then(|text| serde_json::from_str(&text).ok());
        Ok(noted.unwrap_or_else(|| Delivery::begin(webhook)))
    }

    /// Notes what came of a round; `Some`: why it is told no more.
    async fn judge(
        &self,
        controller: &Controller,
        round: &Round,
        delivery: &mut Delivery,
    ) -> Result<Option<String>, WebhookError> {
        // A receiver may have taken its time.
        let now_ms = controller.store.now_ms().await?;
        let webhook = &*self.name;
        match round {
            Round::Idle | Round::Told => Ok(None),
            Round::Gone => Ok(Some("it answered 410 Gone".to_owned())),
            Round::Failed { why, asked_s } => {
                let chance = controller.webhooks.chance();
                let retry = delivery.fail(now_ms, why.clone(), *asked_s, chance);
                let failures = delivery.failures;
                tracing::info!(webhook, failures, reason = why, "a webhook was not told");
                Ok((retry == Retry::GiveUp).then(|| why.clone()))
            }
        }
    }

    async fn note(&self, controller: &Controller, delivery: &Delivery) -> Result<(), WebhookError> {
        let text = serde_json::to_string(delivery).map_err(WebhookError::Text)?;
        Ok(controller.store.note_delivery(self.epoch, &self.name, Some(&text)).await?)
    }

    async fn disable(
        &self,
        controller: &Controller,
        webhook: &Webhook,
        why: &str,
        now_ms: u64,
    ) -> Result<Round, WebhookError> {
        controller.webhooks.disable(&self.name, webhook.revision, why, now_ms).await?;
        let webhook = &*self.name;
        tracing::error!(webhook, reason = why, "a webhook was switched off");
        Ok(Round::Gone)
    }
}
