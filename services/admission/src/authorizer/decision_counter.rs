//! How often each decision was made, for Prometheus.

use prometheus_client::{
    encoding::{EncodeLabelSet, LabelValueEncoder},
    metrics::{counter::Counter, family::Family},
    registry::Registry,
};

use super::Decision;

/// Counts decisions. Cloning is cheap.
#[derive(Debug, Clone, Default)]
pub(crate) struct DecisionCounter(Family<Labels, Counter>);

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Labels {
    decision: Name,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Name(&'static str);

impl prometheus_client::encoding::EncodeLabelValue for Name {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> Result<(), std::fmt::Error> {
        self.0.encode(encoder)
    }
}

// === impl DecisionCounter ===

impl DecisionCounter {
    /// Registers the counter.
    pub(crate) fn register(&self, registry: &mut Registry) {
        let help = "Decisions about requests for sites";
        registry.register("authorizer_decisions", help, self.0.clone());
    }

    /// Counts one.
    pub(crate) fn count(&self, decision: &Decision) {
        self.0.get_or_create(&Labels { decision: Name(decision.name()) }).inc();
    }
}
