//! When the certificate ends that a listener shows, for whoever watches it: of several in the file, the first that does.

use std::fmt;

use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeMetric},
    metrics::{MetricType, gauge::ConstGauge},
    registry::Unit,
};

use super::reload::Tls;

/// Reads it when it is scraped.
#[derive(Debug)]
pub(super) struct Expiry(pub(super) Tls);

impl Collector for Expiry {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let Some(end) = self.0.ends_at() else { return Ok(()) };
        let help = "When the certificate ends that the public address shows, or one above it";
        let (name, unit) = ("tls_certificate_expiry_timestamp", Some(&Unit::Seconds));
        let metric = encoder.encode_descriptor(name, help, unit, MetricType::Gauge)?;
        ConstGauge::new(end).encode(metric)
    }
}
