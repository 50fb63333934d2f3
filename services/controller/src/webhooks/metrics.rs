//! What is measured of webhooks. Their names are operators', and few.

use prometheus_client::{
    metrics::{counter::Counter, family::Family, gauge::Gauge},
    registry::Registry,
};
use vestibule_domain::webhook::{EventStream, Webhooks};

/// What comes of an attempt.
const OUTCOMES: [&str; 2] = ["told", "failed"];

/// What is measured of webhooks.
#[derive(Debug, Clone, Default)]
pub(crate) struct WebhookMetrics {
    attempts: Family<[(&'static str, String); 2], Counter>,
    failures: Family<[(&'static str, String); 2], Gauge>,
    given_up: Family<[(&'static str, String); 1], Counter>,
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
        let help = "Events that a webhook has not taken for so long that they were given up";
        registry.register("webhook_given_up", help, metrics.given_up.clone());
        let help =
            "Whether a webhook was switched off because nothing reached it; told by the leader";
        registry.register("webhook_disabled", help, metrics.disabled.clone());
        metrics
    }

    /// Counts an attempt.
    pub(crate) fn count(&self, webhook: &str, is_told: bool) {
        let outcome = OUTCOMES[usize::from(!is_told)].to_owned();
        let labels = [("webhook", webhook.to_owned()), ("outcome", outcome)];
        self.attempts.get_or_create(&labels).inc();
    }

    /// Counts an event that was given up.
    pub(crate) fn gives_up(&self, webhook: &str) {
        self.given_up.get_or_create(&[("webhook", webhook.to_owned())]).inc();
    }

    /// So many attempts in a row have failed.
    pub(crate) fn fails(&self, webhook: &str, stream: EventStream, failures: u32) {
        self.failures.get_or_create(&of_stream(webhook, stream)).set(failures.into());
    }

    /// Tells which there are, as the leader: `before` are those that were told of last. Counters begin with 0, so that the
    /// first one is seen as a change.
    pub(crate) fn see(&self, before: &Webhooks, set: &Webhooks) {
        for name in before.webhooks.keys().filter(|name| !set.webhooks.contains_key(*name)) {
            let labels = [("webhook", name.clone())];
            self.disabled.remove(&labels);
            self.given_up.remove(&labels);
            for stream in EventStream::ALL {
                self.failures.remove(&of_stream(name, stream));
            }
            for outcome in OUTCOMES {
                self.attempts.remove(&[("webhook", name.clone()), ("outcome", outcome.to_owned())]);
            }
        }
        for (name, webhook) in &set.webhooks {
            for outcome in OUTCOMES {
                let labels = [("webhook", name.clone()), ("outcome", outcome.to_owned())];
                drop(self.attempts.get_or_create(&labels));
            }
            for stream in EventStream::ALL {
                drop(self.failures.get_or_create(&of_stream(name, stream)));
            }
            let labels = [("webhook", name.clone())];
            drop(self.given_up.get_or_create(&labels));
            self.disabled.get_or_create(&labels).set(webhook.disabled.is_some().into());
        }
    }

    /// Tells nothing of them any more: another one leads.
    pub(crate) fn forget(&self) {
        self.failures.clear();
        self.disabled.clear();
    }
}

fn of_stream(webhook: &str, stream: EventStream) -> [(&'static str, String); 2] {
    let events = match stream {
        EventStream::Main => "others",
        EventStream::Visitors => "visitors",
    };
    [("webhook", webhook.to_owned()), ("events", events.to_owned())]
}
