//! A server that refuses: what READONLY, OOM, LOADING and their like let through.

use crate::{failure::Failure, flags::Flags};

/// An error that the server gives instead of doing what it is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    text: String,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Whatever needs the data: the server has none, or has no time.
    Everything,
    /// Whatever changes the data.
    Writes,
    /// As writes, and PING with them, so that health checks notice.
    WritesAndPing,
    /// Whatever needs more memory.
    Memory,
}

// === impl Refusal ===

impl Refusal {
    /// `text` begins with the error's code, which says what is refused. An unknown code refuses writes.
    pub(crate) fn new(text: &str) -> Self {
        let kind = match text.split(' ').next() {
            Some("LOADING" | "BUSY" | "MASTERDOWN" | "CLUSTERDOWN") => Kind::Everything,
            Some("OOM") => Kind::Memory,
            Some("MISCONF") => Kind::WritesAndPing,
            _ => Kind::Writes,
        };
        Self { text: text.to_owned(), kind }
    }

    /// The error, if this refuses the command of this name. Scripts are only refused as a whole when everything is.
    pub(crate) fn check(&self, name: &str, flags: Flags) -> Option<Failure> {
        let refused = match self.kind {
            Kind::Everything => !flags.answers_always(),
            Kind::Writes => flags.writes(),
            Kind::WritesAndPing => flags.writes() || name == "ping",
            Kind::Memory => flags.needs_memory(),
        };
        refused.then(|| Failure(self.text.clone().into()))
    }
}
