//! Queueing methods: how a queue number becomes a position in the line.
//!
//! A method is one file with one pure function, and one arm in each `match` below. It holds no
//! state: whatever it needs, the room's snapshot carries.

mod fifo;

use serde::{Deserialize, Serialize};

/// The order in which a room lets people in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueueingMethod {
    /// First come, first served.
    #[default]
    Fifo,
}

// === impl QueueingMethod ===

impl QueueingMethod {
    /// Every method, in the order in which documents list them.
    pub const ALL: [Self; 1] = [Self::Fifo];

    /// The name used in the API.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Fifo => "fifo",
        }
    }

    /// Where `queue_number` stands in the line.
    #[must_use]
    pub fn position(self, queue_number: u64) -> u64 {
        match self {
            Self::Fifo => fifo::position(queue_number),
        }
    }
}
