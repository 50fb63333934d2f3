//! Who was apart while servers were split, and when.

use std::sync::Arc;

use crate::{Event, ServersAre};

/// Every split of a history so far, in order of time.
#[derive(Debug, Clone, Default)]
pub struct Spans(Vec<Span>);

/// A split: of what those apart have learnt in it the others' server knows nothing.
#[derive(Debug, Clone)]
pub struct Span {
    apart: Vec<Arc<str>>,
    since_ms: u64,
    until_ms: Option<u64>,
}

// === impl Spans ===

impl Spans {
    /// Takes in what the servers are from `at_ms` on, unix ms. A further split ends the one before.
    pub fn observe(&mut self, are: &ServersAre, at_ms: u64) {
        if matches!(are, ServersAre::Lagging) {
            return;
        }
        for span in &mut self.0 {
            span.until_ms.get_or_insert(at_ms);
        }
        if let ServersAre::Split { since_ms, apart } = are {
            self.0.push(Span { apart: apart.clone(), since_ms: *since_ms, until_ms: None });
        }
    }

    /// The place, from 0, of the split in which somebody apart knows this of the server that is left in the end.
    #[must_use]
    pub fn place(&self, event: &Event) -> Option<usize> {
        self.0.iter().position(|span| span.contains(event))
    }

    /// The split of [`Self::place`].
    #[must_use]
    pub fn of(&self, event: &Event) -> Option<&Span> {
        self.0.get(self.place(event)?)
    }
}

// === impl Span ===

impl Span {
    /// Whether somebody apart knows this of the server that is left in the end.
    #[must_use]
    pub fn contains(&self, event: &Event) -> bool {
        event.at_ms >= self.since_ms
            && self.until_ms.is_none_or(|until_ms| event.began_ms <= until_ms)
            && self.apart.contains(&event.by)
    }

    /// When all were on one server again, unix ms; `None`: they are not.
    #[must_use]
    pub fn until_ms(&self) -> Option<u64> {
        self.until_ms
    }
}
