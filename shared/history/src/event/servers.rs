//! What became of the servers: written only by whoever makes it happen. No service knows it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// What became of the servers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServersAre {
    /// There is one server, and a replica that hears nothing more of what it takes in from now on.
    Lagging,
    /// That replica, which has heard nothing since `since_ms`, was promoted. The old server goes on, and so do
    /// these instances with it: they are *apart*.
    Split {
        /// See [`Self::Lagging`].
        since_ms: u64,
        /// The names of those apart.
        apart: Vec<Arc<str>>,
    },
    /// There is only the promoted server, and everybody is on it: what only the old one took in is lost.
    Healed,
}
