//! Moves of a serving counter that no operator has made. They are found by sums, so none is told twice or left out,
//! whoever made it and however seldom it is looked.

use serde::{Deserialize, Serialize};

/// A serving counter, as it is at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServingWatch {
    /// Since which reset.
    pub reset_epoch: u64,
    /// When the room was last brought back after Redis had lost something, ms; 0: never.
    pub restored_at_ms: u64,
    /// Where the counter stands.
    pub serving_counter: i64,
    /// By how much operators have moved it since the reset, in sum.
    pub moved_by_hand: i64,
}

/// From where to where a counter has moved by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServingMove {
    /// Where it stood.
    pub before: i64,
    /// Where it stands.
    pub after: i64,
}

// === impl ServingWatch ===

impl ServingWatch {
    /// Sees the counter as it is now; returns by how much it has moved by itself. What a reset or a restoration has done
    /// is no move.
    pub fn see(&mut self, now: Self) -> Option<ServingMove> {
        let before = std::mem::replace(self, now);
        if (before.reset_epoch, before.restored_at_ms) != (now.reset_epoch, now.restored_at_ms) {
            return None;
        }
        let moved = now.serving_counter.saturating_sub(before.serving_counter);
        let by_itself =
            moved.saturating_sub(now.moved_by_hand.saturating_sub(before.moved_by_hand));
        let after = now.serving_counter;
        (by_itself > 0).then(|| ServingMove { before: after.saturating_sub(by_itself), after })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: ServingWatch =
        ServingWatch { reset_epoch: 7, restored_at_ms: 0, serving_counter: 3, moved_by_hand: 3 };

    fn seen(serving_counter: i64, moved_by_hand: i64) -> Option<ServingMove> {
        FIRST.clone().see(ServingWatch { serving_counter, moved_by_hand, ..FIRST })
    }

    #[test]
    fn what_operators_have_not_moved_has_moved_by_itself() {
        assert_eq!(seen(3, 3), None);
        assert_eq!(seen(6, 3), Some(ServingMove { before: 3, after: 6 }));
        assert_eq!(seen(13, 13), None);
        assert_eq!(seen(15, 13), Some(ServingMove { before: 13, after: 15 }));
        assert_eq!(seen(0, 0), None, "an operator has taken it back");
        assert_eq!(seen(3, 1), Some(ServingMove { before: 1, after: 3 }), "and it has come again");
    }

    #[test]
    fn what_was_reset_or_brought_back_is_seen_anew() {
        let later = ServingWatch { serving_counter: 90, ..FIRST };
        for other in
            [ServingWatch { reset_epoch: 8, ..later }, ServingWatch { restored_at_ms: 5, ..later }]
        {
            let mut watch = FIRST;
            assert_eq!(watch.see(other), None);
            assert_eq!(watch, other);
        }
    }
}
