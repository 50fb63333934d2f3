//! What is counted of a server's connections. Names, labels and meanings are in `docs/metrics.md`, which a test compares.

use prometheus_client::metrics::{counter::Counter, family::Family, gauge::Gauge};

use super::{activity::Silence, roster::Full};
use crate::metrics::Registry;

type ByReason = Family<[(&'static str, &'static str); 1], Counter>;

/// Counts connections. Cloning is cheap.
#[derive(Debug, Clone, Default)]
pub struct ConnectionMetrics {
    pub(super) open: Gauge,
    pub(super) accepted: Counter,
    pub(super) tls_handshakes_failed: Counter,
    pub(super) tls_reloads_failed: Counter,
    refused: ByReason,
    closed: ByReason,
}

// === impl ConnectionMetrics ===

impl ConnectionMetrics {
    /// Creates the metrics and registers them.
    #[must_use]
    pub fn register(registry: &mut Registry) -> Self {
        let metrics = Self::default();
        // From the start, so that the first one is seen as a change.
        for reason in ["total", "address"] {
            drop(metrics.refused.get_or_create(&[("reason", reason)]));
        }
        for reason in ["head", "idle", "body", "answer", "room"] {
            drop(metrics.closed.get_or_create(&[("reason", reason)]));
        }
        let help = "Connections at this moment";
        registry.register("connections_open", help, metrics.open.clone());
        registry.register("connections_accepted", "Connections taken", metrics.accepted.clone());
        let help = "Connections that were closed at once, because there were too many";
        registry.register("connections_refused", help, metrics.refused.clone());
        let help = "Connections that were closed because they were silent, or to make room";
        registry.register("connections_closed", help, metrics.closed.clone());
        let help = "Connections on which TLS did not come about";
        registry.register("tls_handshakes_failed", help, metrics.tls_handshakes_failed.clone());
        let help = "Changes of the certificate files that cannot be used";
        registry.register("tls_reloads_failed", help, metrics.tls_reloads_failed.clone());
        metrics
    }

    pub(super) fn count_refused(&self, full: Full) {
        let reason = match full {
            Full::Total => "total",
            Full::Address => "address",
        };
        self.refused.get_or_create(&[("reason", reason)]).inc();
    }

    pub(super) fn count_silent(&self, silence: Silence) {
        let reason = match silence {
            Silence::Head => "head",
            Silence::Idle => "idle",
            Silence::Body => "body",
            Silence::Answer => "answer",
        };
        self.closed.get_or_create(&[("reason", reason)]).inc();
    }

    pub(super) fn count_room_made(&self) {
        self.closed.get_or_create(&[("reason", "room")]).inc();
    }
}
