//! A running process of either service.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use vestibule_runtime::Lifecycle;

use crate::network::Node;

/// A running process, and the service in it.
#[derive(Debug, Clone)]
pub struct Process<I> {
    /// The process.
    pub running: Running,
    /// The service.
    pub instance: I,
}

/// A running process, whichever service it is.
#[derive(Debug, Clone)]
pub struct Running {
    /// Its name in traces.
    pub name: Arc<str>,
    /// Its place at the network.
    pub node: Node,
    /// Cancelled when it is killed.
    pub killed: CancellationToken,
    /// Its life.
    pub lifecycle: Lifecycle,
}

// === impl Process ===

impl<I> Process<I> {
    /// Whether a load balancer would send anybody to it.
    pub(super) fn is_ready(&self) -> bool {
        self.running.lifecycle.readiness().missing().is_empty()
    }
}

// === impl Running ===

impl Running {
    /// Whether a loop of it has ended by itself or panicked, so that the process would have stopped.
    pub(super) fn has_failed(&self) -> bool {
        self.lifecycle.soft().is_cancelled()
    }

    /// Stops it in order, as after a signal: what is gathered is still sent, and a lease is given up.
    pub(super) async fn stop(&self) {
        self.lifecycle.stop();
        self.lifecycle.wind_down().await;
    }
}
