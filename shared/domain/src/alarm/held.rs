//! Something that counts as begun or ended only once it has been so for a while.

use serde::{Deserialize, Serialize};

/// Whether it counts as being so, and since when it looks otherwise.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// Whether it counts as being so.
    pub on: bool,
    /// Since when it looks otherwise, ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since_ms: Option<u64>,
}

// === impl Held ===

impl Held {
    /// Sees at `now_ms` how it looks. It counts as begun after `on_ms`, and as ended after `off_ms`. Returns whether that
    /// changes now.
    pub fn see(&mut self, now_ms: u64, looks_on: bool, (on_ms, off_ms): (u64, u64)) -> bool {
        if looks_on == self.on {
            self.since_ms = None;
            return false;
        }
        let since = *self.since_ms.get_or_insert(now_ms);
        if now_ms.saturating_sub(since) < if looks_on { on_ms } else { off_ms } {
            return false;
        }
        *self = Self { on: looks_on, since_ms: None };
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_changes_once_it_has_looked_so_for_long_enough() {
        let mut held = Held::default();
        let mut see = |now, looks_on| held.see(now, looks_on, (5_000, 30_000));
        assert!(!see(0, true) && !see(4_999, true) && see(5_000, true) && !see(6_000, true));
        assert!(!see(10_000, false) && !see(39_999, false));
        assert!(!see(39_999, true), "it was a moment");
        assert!(!see(50_000, false) && see(80_000, false));
    }

    #[test]
    fn without_a_length_it_changes_at_once() {
        let mut held = Held::default();
        assert!(held.see(1, true, (0, 0)) && held.see(1, false, (0, 0)));
    }
}
