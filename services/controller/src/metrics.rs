//! What the controller measures, besides its HTTP requests.
//! What is told of each room, and of whatever else is read from memory when somebody asks, is in [`crate::figures`]. All
//! of them, with their labels, are in `docs/metrics.md`, which a test compares.

use std::fmt;

use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeMetric},
    metrics::{
        MetricType,
        counter::{ConstCounter, Counter},
        family::Family,
        gauge::{ConstGauge, Gauge},
        histogram::Histogram,
    },
    registry::{Registry, Unit},
};
use vestibule_runtime::redis_metrics::RedisMetrics;
use vestibule_store::{Feed, ServerCheck, Store};

/// Upper bounds of the tick histogram, in seconds: from one round trip to Redis's time-out.
pub(crate) const TICK_BUCKETS: [f64; 9] = [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5];

/// The controller's own metrics.
#[derive(Debug, Clone)]
pub(crate) struct Metrics {
    /// 1 while this instance leads.
    pub(crate) leading: Gauge,
    /// Rooms whose lines this instance advances.
    pub(crate) rooms_served: Gauge,
    /// How long one room's tick took.
    pub(crate) tick_duration: Histogram,
    /// Ticks that failed.
    pub(crate) ticks_failed: Counter,
    /// Rooms restored.
    pub(crate) restorations: Counter,
    /// Newcomers and admissions of the last day that are remembered.
    pub(crate) history_kept: Gauge,
    /// Changes that are missing in the audit log.
    pub(crate) audit_failed: Counter,
    /// Sessions that a site has ended by the AWS-style API, by what became of them.
    pub(crate) sessions_ended: Family<[(&'static str, &'static str); 1], Counter>,
    /// Calls that no token allowed, by reason.
    refused: Family<[(&'static str, &'static str); 1], Counter>,
}

/// Figures that the store and the feed keep, read when they are scraped.
#[derive(Debug)]
struct Known {
    store: Store,
    feed: Feed,
}

// === impl Metrics ===

impl Metrics {
    /// Creates the metrics and registers them.
    pub(crate) fn register(registry: &mut Registry, store: &Store, feed: &Feed) -> Self {
        let metrics = Self {
            leading: Gauge::default(),
            rooms_served: Gauge::default(),
            tick_duration: Histogram::new(TICK_BUCKETS),
            ticks_failed: Counter::default(),
            restorations: Counter::default(),
            history_kept: Gauge::default(),
            audit_failed: Counter::default(),
            sessions_ended: Family::default(),
            refused: Family::default(),
        };
        // From the start, so that the first one is seen as a change.
        for reason in ["nothing", "wrong", "role", "rooms"] {
            drop(metrics.refused.get_or_create(&[("reason", reason)]));
        }
        for outcome in ["completed", "abandoned"] {
            drop(metrics.sessions_ended.get_or_create(&[("outcome", outcome)]));
        }
        let help = "Sessions that were completed or abandoned by update_session";
        registry.register("sessions_ended", help, metrics.sessions_ended.clone());
        registry.register("leading", "Whether this instance leads", metrics.leading.clone());
        let help = "Rooms whose lines this instance advances";
        registry.register("rooms_served", help, metrics.rooms_served.clone());
        registry.register_with_unit(
            "tick_duration",
            "Time that one room's tick took",
            Unit::Seconds,
            metrics.tick_duration.clone(),
        );
        let help = "Ticks that Redis did not let through";
        registry.register("ticks_failed", help, metrics.ticks_failed.clone());
        let help = "Rooms brought back after Redis had lost them";
        registry.register("restorations", help, metrics.restorations.clone());
        let help = "Newcomers and admissions of the last day that this instance remembers";
        registry.register("history_kept", help, metrics.history_kept.clone());
        let help = "Changes that are missing in the audit log";
        registry.register("audit_failed", help, metrics.audit_failed.clone());
        let help = "Calls that did not show a token that allows them";
        registry.register("operator_calls_refused", help, metrics.refused.clone());
        let known = Known { store: store.clone(), feed: feed.clone() };
        registry.register_collector(Box::new(known));
        metrics
    }

    /// Counts a call that no token allowed.
    pub(crate) fn count_refused(&self, reason: &'static str) {
        self.refused.get_or_create(&[("reason", reason)]).inc();
    }
}

// === impl Known ===

impl Collector for Known {
    fn encode(&self, mut encoder: DescriptorEncoder) -> Result<(), fmt::Error> {
        let calls = ConstCounter::new(self.store.calls());
        let metric = MetricType::Counter;
        calls.encode(encoder.encode_descriptor(
            "redis_calls",
            "Calls to Redis",
            None,
            metric,
        )?)?;
        let count = ConstGauge::new(i64::try_from(self.feed.rooms().len()).unwrap_or(i64::MAX));
        count.encode(encoder.encode_descriptor("rooms", "Rooms known", None, MetricType::Gauge)?)
    }
}

/// What is known of the servers under `store`.
pub(crate) fn register_servers(
    registry: &mut Registry,
    store: &Store,
    feed: &Feed,
    check: &ServerCheck,
) {
    let (store, feed, check) = (store.clone(), feed.clone(), check.clone());
    registry.register_collector(Box::new(RedisMetrics {
        answers: move || feed.is_connected(),
        shortfalls: move || store.replica_shortfalls(),
        findings: move || check.findings(),
    }));
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use vestibule_runtime::metrics::{encode, registry};
    use vestibule_store::Clock;

    use super::*;

    #[tokio::test]
    async fn rooms_and_calls_are_read_when_scraped() {
        let timeout = Duration::from_secs(1);
        let store = Store::open("redis://127.0.0.1:1", Clock::Server, timeout).unwrap();
        let feed = Feed::new(store.clone(), "test");
        let mut registry = registry("controller", "1");
        let metrics = Metrics::register(&mut registry, &store, &feed);
        metrics.leading.set(1);
        let text = encode(&registry).unwrap();
        assert!(text.contains("vestibule_rooms 0\n") && text.contains("vestibule_leading 1\n"));
        let snapshot = r#"{"room":"sale","settings":{},"reset_epoch":7,"generation":1,"now_ms":1,
            "queue_counter":90,"serving_counter":-5,"admitted":30,"active":20,"unconfirmed":2,
            "expired":0,"skipped":0,"expired_position":0,"admitted_last_minute":5,
            "tokens_until":0,"figures":{"waiting":12}}"#;
        feed.receive(serde_json::from_str(snapshot).unwrap()).await;
        assert!(store.ping().await.is_err());
        let text = encode(&registry).unwrap();
        for line in ["vestibule_rooms 1\n", "vestibule_redis_calls_total 1\n"] {
            assert!(text.contains(line), "{line}{text}");
        }
    }
}
