//! What a request id says once it is opened: one visitor's place in the line.
//! Sealing and opening it is `vestibule-token`'s.

use serde::{Deserialize, Serialize};

/// The highest queue number a request id can hold (36 bits: 68 thousand million visitors).
pub const MAX_QUEUE_NUMBER: u64 = (1 << 36) - 1;

/// A visitor's place: given once at the join, and never changed until the room is reset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Place {
    /// The queue number: 1, 2, 3 … in order of arrival. 0 stands for a visitor let in without a
    /// number while the store was away (a room that fails open).
    pub number: u64,
    /// When the visitor joined, in seconds since 1970 on Redis's clock.
    pub entered_at: u32,
    /// The index of the region where the visitor joined.
    pub region: u8,
}
