//! What is counted of the gRPC listener's connections, for Prometheus.

use prometheus_client::{
    metrics::{counter::Counter, family::Family, gauge::Gauge},
    registry::Registry,
};
use tokio::sync::OwnedSemaphorePermit;

/// Counts connections. Cloning is cheap.
#[derive(Debug, Clone, Default)]
pub(crate) struct GrpcMetrics {
    open: Gauge,
    refused: Family<[(&'static str, &'static str); 1], Counter>,
}

/// A connection's place among those that there may be: until it is dropped, it is taken.
#[derive(Debug)]
pub(super) struct Place {
    open: Gauge,
    _permit: OwnedSemaphorePermit,
}

/// Why a connection is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refused {
    /// It comes from no trusted proxy.
    Stranger,
    /// There are as many as there may be.
    Total,
}

// === impl GrpcMetrics ===

impl GrpcMetrics {
    /// Creates the metrics and registers them.
    pub(crate) fn register(registry: &mut Registry) -> Self {
        let metrics = Self::default();
        // From the start, so that the first one is seen as a change.
        for reason in [Refused::Stranger, Refused::Total] {
            drop(metrics.counter(reason));
        }
        let help = "Connections of gateways to the gRPC listener at this moment";
        registry.register("grpc_connections_open", help, metrics.open.clone());
        let help = "Connections to the gRPC listener that were closed at once";
        registry.register("grpc_connections_refused", help, metrics.refused.clone());
        metrics
    }

    /// Counts the connection as open for as long as it has its place.
    pub(super) fn open(&self, permit: OwnedSemaphorePermit) -> Place {
        self.open.inc();
        Place { open: self.open.clone(), _permit: permit }
    }

    pub(super) fn count_refused(&self, reason: Refused) {
        self.counter(reason).inc();
    }

    fn counter(&self, reason: Refused) -> impl std::ops::Deref<Target = Counter> {
        let reason = match reason {
            Refused::Stranger => "stranger",
            Refused::Total => "total",
        };
        self.refused.get_or_create(&[("reason", reason)])
    }
}

#[cfg(test)]
impl GrpcMetrics {
    pub(super) fn refused(&self, reason: Refused) -> u64 {
        self.counter(reason).get()
    }

    pub(super) fn open_now(&self) -> i64 {
        self.open.get()
    }
}

// === impl Place ===

impl Drop for Place {
    fn drop(&mut self) {
        self.open.dec();
    }
}
