//! What a run is blamed for.

use std::fmt;

/// An invariant that did not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// Virtual time, ms since the begin.
    pub at_ms: u64,
    /// Its name.
    pub invariant: &'static str,
    /// What is wrong.
    pub what: String,
}

// === impl Broken ===

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.invariant, self.what)
    }
}
