//! What admission measures, besides its HTTP requests.

use std::{
    fmt,
    sync::{Arc, atomic::Ordering},
};

use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeMetric},
    metrics::{counter::ConstCounter, gauge::ConstGauge},
};
use vestibule_runtime::{metrics::Registry, redis_metrics::RedisMetrics};
use vestibule_store::{Feed, ServerCheck, Store};

use crate::state::Admission;

/// Reads figures from the service when they are scraped.
#[derive(Debug)]
pub(crate) struct AdmissionCollector(pub(crate) Arc<Admission>);

impl Collector for AdmissionCollector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let calls = ConstCounter::new(self.0.store.calls());
        let metric = encoder.encode_descriptor(
            "redis_calls",
            "Calls to Redis",
            None,
            calls.metric_type(),
        )?;
        calls.encode(metric)?;
        self.encode_slots_taken(&mut encoder)?;
        self.encode_pages(&mut encoder)?;
        let rooms = i64::try_from(self.0.feed.rooms().len()).unwrap_or(i64::MAX);
        let rooms = ConstGauge::new(rooms);
        let metric =
            encoder.encode_descriptor("rooms", "Rooms known", None, rooms.metric_type())?;
        rooms.encode(metric)
    }
}

// === impl AdmissionCollector ===

impl AdmissionCollector {
    /// The waiting page: live streams, and own pages that could not be shown.
    fn encode_pages(&self, encoder: &mut DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let open = ConstGauge::new(i64::try_from(self.0.pages.live.open()).unwrap_or(i64::MAX));
        let metric = encoder.encode_descriptor(
            "live_updates",
            "Waiting pages that get live updates",
            None,
            open.metric_type(),
        )?;
        open.encode(metric)?;
        let fallbacks = ConstCounter::new(self.0.pages.brandings.fallbacks());
        let metric = encoder.encode_descriptor(
            "custom_page_fallbacks",
            "Times that the default page was shown because the room's own page is broken",
            None,
            fallbacks.metric_type(),
        )?;
        fallbacks.encode(metric)
    }

    /// Where the slots of visitors who entered without waiting came from.
    fn encode_slots_taken(&self, encoder: &mut DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let taken = self.0.flows.joins.taken();
        let help = "Slots that newcomers here took at once, ";
        for (name, whose, count) in [
            ("slots_taken_own", "of this region's own part", &taken.own),
            ("slots_taken_anywhere", "of the part open to all regions", &taken.anywhere),
            ("slots_taken_lent", "of what other regions had not used", &taken.lent),
        ] {
            let count = ConstCounter::new(count.load(Ordering::Relaxed));
            let help = format!("{help}{whose}");
            let metric = encoder.encode_descriptor(name, &help, None, count.metric_type())?;
            count.encode(metric)?;
        }
        Ok(())
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
