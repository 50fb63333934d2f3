//! Whether places and sessions may have become void: by a reset or a deletion, known or under way.

use std::sync::Arc;

use crate::{Call, Event, PutAs, What};

/// Resets and deletions of a room.
#[derive(Debug, Default)]
pub(super) struct Voids {
    under_way: Vec<(Arc<str>, u64)>,
    last_ms: Option<u64>,
}

// === impl Voids ===

impl Voids {
    pub(super) fn observe(&mut self, event: &Event) {
        match &event.what {
            What::Sent(Call::Reset | Call::Delete) => {
                self.under_way.push((Arc::clone(&event.by), event.at_ms));
            }
            What::Reset { .. } | What::Deleted { .. } => {
                let own = self.under_way.iter().position(|(by, _)| *by == event.by);
                own.map(|own| self.under_way.swap_remove(own));
                self.last_ms = self.last_ms.max(Some(event.at_ms));
            }
            What::Put(put) if put.outcome == PutAs::Created => {
                self.last_ms = self.last_ms.max(Some(event.at_ms));
            }
            _ => {}
        }
    }

    /// Whether one may have taken effect after `since_ms`; a call that was not answered may do so for
    /// `settles_ms` after it was sent.
    pub(super) fn since(&self, since_ms: u64, settles_ms: u64) -> bool {
        self.last_ms.is_some_and(|last| last >= since_ms)
            || self.under_way.iter().any(|(_, sent)| sent + settles_ms >= since_ms)
    }
}
