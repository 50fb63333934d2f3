//! What the controller measures, besides its HTTP requests.
//!
//! | metric | type | what |
//! |---|---|---|
//! | `vestibule_leading` | gauge | 1 while this instance holds the lease; several serve rooms |
//! | `vestibule_rooms_served` | gauge | rooms whose lines this instance advances |
//! | `vestibule_tick_duration_seconds` | histogram | one room's tick |
//! | `vestibule_ticks_failed_total` | counter | ticks that Redis refused or did not answer |
//! | `vestibule_restorations_total` | counter | rooms brought back after Redis had lost them |
//! | `vestibule_history_kept` | gauge | newcomers and admissions of the last day that this instance remembers |
//! | `vestibule_operator_calls_refused_total` | counter | calls that no token allowed, label `reason`: `nothing`, `wrong`; of a right one `role`, `rooms` |
//! | `vestibule_audit_failed_total` | counter | changes that are missing in the audit log |
//! | `vestibule_redis_calls_total` | counter | calls to Redis |
//! | `vestibule_redis_replica_shortfalls_total` | counter | answers that too few replicas are known to have |
//! | `vestibule_redis_findings` | gauge | what is found about the servers, label `finding` |
//! | `vestibule_rooms` | gauge | rooms known |
//! | `vestibule_room_…` | gauge | figures of each room, label `room`; see [`ROOM_FIGURES`] |

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
use vestibule_domain::RoomSnapshot;
use vestibule_runtime::redis_metrics::RedisMetrics;
use vestibule_store::{Feed, ServerCheck, Store};

/// Upper bounds of the tick histogram, in seconds: from one round trip to Redis's time-out.
pub(crate) const TICK_BUCKETS: [f64; 9] = [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5];

/// A figure of a room: name, help, and how it is read from the snapshot.
pub(crate) type RoomFigure = (&'static str, &'static str, fn(&RoomSnapshot) -> f64);

/// The figures of each room.
#[expect(clippy::cast_precision_loss, reason = "counts of people")]
pub(crate) const ROOM_FIGURES: [RoomFigure; 7] = [
    ("room_queue_counter", "The highest queue number", |room| room.queue_counter as f64),
    ("room_serving_counter", "The serving counter", |room| room.serving_counter as f64),
    ("room_waiting", "Visitors waiting who are still there", |room| room.figures.waiting as f64),
    ("room_active_users", "Sessions", |room| (room.active + room.unconfirmed) as f64),
    ("room_admitted", "Sessions that ever began", |room| room.admitted as f64),
    ("room_admitted_last_minute", "Admissions of 60 seconds", |room| {
        room.admitted_last_minute as f64
    }),
    ("room_admissions_per_second", "Pace of admissions, smoothed", |room| {
        room.figures.admissions_per_second
    }),
];

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
            refused: Family::default(),
        };
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
        let rooms: Vec<_> = self.feed.rooms().iter().map(|room| room.snapshot()).collect();
        let count = ConstGauge::new(i64::try_from(rooms.len()).unwrap_or(i64::MAX));
        count.encode(encoder.encode_descriptor(
            "rooms",
            "Rooms known",
            None,
            MetricType::Gauge,
        )?)?;
        if rooms.is_empty() {
            return Ok(());
        }
        for (name, help, figure) in ROOM_FIGURES {
            let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
            for room in &rooms {
                let labels = [("room", room.room.as_str())];
                metric.encode_family(&labels)?.encode_gauge(&figure(room))?;
            }
        }
        Ok(())
    }
}

/// What is known of the servers under `store`.
pub(crate) fn register_servers(registry: &mut Registry, store: &Store, check: &ServerCheck) {
    let (store, check) = (store.clone(), check.clone());
    registry.register_collector(Box::new(RedisMetrics {
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
        for line in [
            "vestibule_rooms 1\n",
            "vestibule_redis_calls_total 1\n",
            "vestibule_room_serving_counter{room=\"sale\"} -5.0\n",
            "vestibule_room_active_users{room=\"sale\"} 22.0\n",
            "vestibule_room_waiting{room=\"sale\"} 12.0\n",
        ] {
            assert!(text.contains(line), "{line}{text}");
        }
    }
}
