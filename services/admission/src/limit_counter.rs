//! How often networks were beyond their limits, for Prometheus.

use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family},
    registry::Registry,
};
use vestibule_domain::network_limits::NetworkLimit;
use vestibule_store::BeyondLimits;

/// Counts visitors whose network had reached a limit. Cloning is cheap.
#[derive(Debug, Clone, Default)]
pub(crate) struct LimitCounter(Family<Labels, Counter>);

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Labels {
    limit: &'static str,
    mode: &'static str,
}

// === impl LimitCounter ===

impl LimitCounter {
    /// Registers the counter.
    pub(crate) fn register(&self, registry: &mut Registry) {
        // From the start, so that the first one is seen as a change.
        for limit in [NetworkLimit::Joins, NetworkLimit::Places, NetworkLimit::Seats] {
            for mode in ["enforce", "log"] {
                drop(self.0.get_or_create(&Labels { limit: limit.name(), mode }));
            }
        }
        let help = "Calls of visitors whose network had reached a limit: turned away (enforce) or only counted (log)";
        registry.register("network_limits_reached", help, self.0.clone());
    }

    /// Counts newcomers.
    pub(crate) fn count_newcomers(&self, beyond: BeyondLimits, only_logs: bool) {
        self.count(NetworkLimit::Joins, beyond.joins, only_logs);
        self.count(NetworkLimit::Places, beyond.places, only_logs);
    }

    /// Counts so many calls.
    pub(crate) fn count(&self, limit: NetworkLimit, calls: u64, only_logs: bool) {
        if calls > 0 {
            let mode = if only_logs { "log" } else { "enforce" };
            self.0.get_or_create(&Labels { limit: limit.name(), mode }).inc_by(calls);
        }
    }
}
