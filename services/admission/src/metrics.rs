//! What this service tells Prometheus besides its HTTP figures.

use std::{fmt, sync::Arc};

use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeMetric},
    metrics::{counter::ConstCounter, gauge::ConstGauge},
};

use crate::state::Admission;

/// Read off the service whenever it is asked.
#[derive(Debug)]
pub(crate) struct Figures(pub(crate) Arc<Admission>);

impl Collector for Figures {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let calls = ConstCounter::new(self.0.store.calls());
        let metric = encoder.encode_descriptor(
            "redis_calls",
            "Calls made to Redis",
            None,
            calls.metric_type(),
        )?;
        calls.encode(metric)?;
        let rooms = i64::try_from(self.0.feed.rooms().len()).unwrap_or(i64::MAX);
        let rooms = ConstGauge::new(rooms);
        let metric =
            encoder.encode_descriptor("rooms", "Rooms known here", None, rooms.metric_type())?;
        rooms.encode(metric)
    }
}
