//! Being asked to stop, by the operator or by the system: a simulation ends in order and cleans up.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Hears that it shall stop.
#[derive(Debug)]
pub(super) struct Stop {
    interrupt: Signal,
    terminate: Signal,
}

// === impl Stop ===

impl Stop {
    /// From now on such signals do not kill the process.
    ///
    /// # Errors
    /// When the system does not let it listen.
    pub(super) fn listen() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    /// Ends once it shall stop.
    pub(super) async fn asked(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
