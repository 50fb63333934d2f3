//! What is told of the keys and the secret of a service, the same for both services: how old the key is that signs, and
//! whether a replaced secret still opens what it has sealed. Never a key, nor anything made of one but its public name.

use std::{fmt, sync::Arc};

use vestibule_runtime::metrics::{
    Registry,
    prometheus_client::{
        collector::Collector,
        encoding::{DescriptorEncoder, EncodeMetric},
        metrics::{MetricType, gauge::ConstGauge},
        registry::Unit,
    },
};
use vestibule_token::DeploymentSecret;

use crate::Keystore;

/// Reads the figures when they are scraped.
#[derive(Debug)]
pub struct KeyMetrics {
    keys: Keystore,
    secret: Arc<DeploymentSecret>,
}

// === impl KeyMetrics ===

impl KeyMetrics {
    /// Registers the figures of these.
    pub fn register(registry: &mut Registry, keys: &Keystore, secret: &Arc<DeploymentSecret>) {
        let metrics = Self { keys: keys.clone(), secret: Arc::clone(secret) };
        registry.register_collector(Box::new(metrics));
    }
}

impl Collector for KeyMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let replaced = ConstGauge::new(i64::from(self.secret.is_being_replaced()));
        let help = "Whether this instance still opens what an older secret has sealed";
        let name = "secret_being_replaced";
        replaced.encode(encoder.encode_descriptor(name, help, None, MetricType::Gauge)?)?;
        let Some((kid, made)) = self.keys.signs_since() else { return Ok(()) };
        let help = "When the key was made that signs new tokens";
        let (name, unit) = ("signing_key_created_timestamp", Some(&Unit::Seconds));
        let mut metric = encoder.encode_descriptor(name, help, unit, MetricType::Gauge)?;
        metric.encode_family(&[("kid", kid.as_str())])?.encode_gauge(&made)
    }
}
