//! Whether places and sessions may have become void: by a reset or a deletion, known or under way. During a split one on
//! either side: whoever was told of it talks to both, and which of them is undone shows only afterwards.

use std::sync::Arc;

use super::Turn;
use crate::{Call, Event, PutAs, What};

/// Resets and deletions of a room.
#[derive(Debug, Clone, Default)]
pub(super) struct Voids {
    under_way: Vec<(Arc<str>, u64)>,
    last_ms: Option<u64>,
    is_split: bool,
    is_healed: bool,
    /// The sides of a split differ in it.
    differ: bool,
}

// === impl Voids ===

impl Voids {
    pub(super) fn observe(&mut self, event: &Event) {
        self.differ |= self.is_split && is_void(event);
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

    /// See [`super::Check::hear_apart`].
    pub(super) fn hear_apart(&mut self, event: &Event) {
        if is_void(event) && self.is_healed {
            self.under_way.push((Arc::clone(&event.by), event.at_ms));
        } else {
            self.differ |= is_void(event);
        }
    }

    /// Once a split is over, those of either side may take effect.
    pub(super) fn turn(&mut self, turn: &Turn) {
        (self.is_split, self.is_healed) = (!turn.is_over, turn.is_over);
        if turn.is_over && std::mem::take(&mut self.differ) {
            self.under_way.push((Arc::from(""), turn.at_ms));
        }
    }

    /// Whether one may have taken effect after `since_ms`; a call that was not answered may do so for
    /// `settles_ms` after it was sent.
    pub(super) fn since(&self, since_ms: u64, settles_ms: u64) -> bool {
        self.differ
            || self.last_ms.is_some_and(|last| last >= since_ms)
            || self.under_way.iter().any(|(_, sent)| sent + settles_ms >= since_ms)
    }
}

/// Whether places may become void by it.
fn is_void(event: &Event) -> bool {
    match &event.what {
        What::Sent(Call::Reset | Call::Delete) | What::Reset { .. } | What::Deleted { .. } => true,
        What::Put(put) => put.outcome == PutAs::Created,
        _ => false,
    }
}
