//! The visitors who wait for a draw.

/// The queue numbers that wait for a draw.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pool {
    /// The first; 0: none waits.
    pub first: u64,
    /// The last; 0: more may come.
    pub last: u64,
    /// The id of the draw.
    pub draw_id: String,
}

// === impl Pool ===

impl Pool {
    /// Whether nobody waits for a draw.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.first == 0
    }

    /// Whether it is closed and waits to be drawn.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.first > 0 && self.last > 0
    }

    /// How many it holds, once it is closed.
    #[must_use]
    pub fn count(&self) -> u64 {
        if self.is_closed() { (self.last + 1).saturating_sub(self.first) } else { 0 }
    }
}
