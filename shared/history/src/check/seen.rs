//! An event that is being looked at, and its copy for those checks that want to remember it.

use std::{cell::OnceCell, ops::Deref, sync::Arc};

use crate::Event;

/// An event that is being looked at.
#[derive(Debug)]
pub(crate) struct Seen<'a> {
    pub(crate) event: &'a Event,
    /// On which server it was: 0 on the one that is left in the end, n on the old one of the nth split.
    pub(crate) server: usize,
    kept: OnceCell<Arc<Event>>,
}

// === impl Seen ===

impl<'a> Seen<'a> {
    /// On the only server.
    pub(crate) fn new(event: &'a Event) -> Self {
        Self::at(0, event)
    }

    pub(crate) fn at(server: usize, event: &'a Event) -> Self {
        Self { event, server, kept: OnceCell::new() }
    }

    /// A copy to remember; all checks share it.
    pub(crate) fn keep(&self) -> Arc<Event> {
        Arc::clone(self.kept.get_or_init(|| Arc::new(self.event.clone())))
    }
}

impl Deref for Seen<'_> {
    type Target = Event;

    fn deref(&self) -> &Event {
        self.event
    }
}
