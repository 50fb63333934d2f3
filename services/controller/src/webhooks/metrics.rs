//! What is measured of webhooks. Their names are operators', and few.

use prometheus_client::{
    metrics::{counter::Counter, family::Family, gauge::Gauge},
    registry::Registry,
};
use vestibule_domain::webhook::Webhooks;

/// What is measured of webhooks.
#[derive(Debug, Clone, Default)]
pub(crate) struct WebhookMetrics {
    attempts: Family<[(&'static str, String); 2], Counter>,
    failures: Family<[(&'static str, String); 1], Gauge>,
    disabled: Family<[(&'static str, String); 1], Gauge>,
}

// === impl WebhookMetrics ===

impl WebhookMetrics {
    /// Registers it.
    pub(crate) fn register(registry: &mut Registry) -> Self {
        let metrics = Self::default();
        let help = "Attempts to send an event to a webhook";
        registry.register("webhook_attempts", help, metrics.attempts.clone());
        let help = "Attempts in a row that have failed, of a webhook; told by the leader";
        registry.register("webhook_failures", help, metrics.failures.clone());
        let help =
            "Whether a webhook was switched off because nothing reached it; told by the leader";
        registry.register("webhook_disabled", help, metrics.disabled.clone());
        metrics
    }

    /// Counts an attempt.
    pub(crate) fn count(&self, webhook: &str, is_told: bool) {
        let outcome = if is_told { "told" } else { "failed" }.to_owned();
        let labels = [("webhook", webhook.to_owned()), ("outcome", outcome)];
        self.attempts.get_or_create(&labels).inc();
    }

    /// So many attempts in a row have failed.
    pub(crate) fn fails(&self, webhook: &str, failures: u32) {
        let labels = [("webhook", webhook.to_owned())];
        self.failures.get_or_create(&labels).set(failures.into());
    }

    /// Tells which there are, as the leader. Counters begin with 0, so that the first one is seen as a change.
    pub(crate) fn see(&self, set: &Webhooks) {
        self.disabled.clear();
        for (name, webhook) in &set.webhooks {
            for outcome in ["told", "failed"] {
                let labels = [("webhook", name.clone()), ("outcome", outcome.to_owned())];
                drop(self.attempts.get_or_create(&labels));
            }
            let labels = [("webhook", name.clone())];
            drop(self.failures.get_or_create(&labels));
            self.disabled.get_or_create(&labels).set(webhook.disabled.is_some().into());
        }
    }

    /// Tells nothing of them any more: another one leads.
    pub(crate) fn forget(&self) {
        self.failures.clear();
        self.disabled.clear();
    }
}
