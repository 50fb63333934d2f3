//! Whose places are over.

use rustc_hash::FxHashSet;

use crate::{ClaimedAs, Event, What};

/// The positions, since the last reset, of those who gave their places up, or whose sessions have ended.
///
/// They are over for everybody who has the ticket; who did not hear of it asks on, and is entitled to nothing.
#[derive(Debug, Clone, Default)]
pub(super) struct Over {
    reset_epoch: u64,
    positions: FxHashSet<u64>,
}

// === impl Over ===

impl Over {
    pub(super) fn observe(&mut self, event: &Event) {
        if let Some(epoch) = event.reset_epoch().filter(|epoch| *epoch > self.reset_epoch) {
            *self = Self { reset_epoch: epoch, positions: FxHashSet::default() };
        }
        match &event.what {
            What::GivenUp { reset_epoch, positions, .. } if *reset_epoch == self.reset_epoch => {
                self.positions.extend(positions);
            }
            What::Claimed(claimed) if claimed.outcome == ClaimedAs::SessionEnded => {
                self.positions.extend(claimed.position);
            }
            _ => {}
        }
    }

    pub(super) fn contains(&self, position: u64) -> bool {
        self.positions.contains(&position)
    }
}
