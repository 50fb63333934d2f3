//! The path of a request in all its possible readings. Gateways and sites decode, merge and resolve
//! paths differently, and a visitor may write a path that the gateway and the site read
//! differently. A path is therefore read in every known way: it is covered when *any* reading is
//! covered, and bypasses the room only when *every* reading matches the rule. Holding a request is
//! the safe side.

mod reading;
mod written;

use std::fmt;

use rustc_hash::FxHashSet;

use self::{
    reading::PathReading,
    written::{as_written, is_plain},
};

/// A path as it was sent, and its readings.
#[derive(Clone, PartialEq, Eq)]
pub struct RequestPath {
    raw: String,
    /// The canonical form, the path as written, then the other readings; each differs from those
    /// before it. Empty: every way reads the raw path as it is written.
    readings: Vec<String>,
}

// === impl RequestPath ===

impl RequestPath {
    /// The longest path, in bytes. Browsers do not send longer ones. Callers must refuse longer
    /// paths, because every reading costs time.
    pub const MAX_LENGTH: usize = 2_048;

    /// The path `raw` as the client sent it: percent-encoded, without the query.
    #[must_use]
    pub fn new(raw: &str) -> Self {
        let readings = if is_plain(raw) { Vec::new() } else { readings(raw) };
        Self { raw: raw.to_owned(), readings }
    }

    /// The path as the client sent it.
    #[must_use]
    pub fn raw(&self) -> &str {
        &self.raw
    }

    /// The path as a careful gateway reads it: escapes decoded once, backslashes as slashes,
    /// repeated slashes merged, `.` and `..` resolved but never above `/`. Bytes that are not UTF-8
    /// become U+FFFD.
    #[must_use]
    pub fn canonical(&self) -> &str {
        self.readings.first().unwrap_or(&self.raw)
    }

    /// All readings: the canonical form first, then the path as it is written (with those escapes
    /// undone that a browser must write), then the others.
    pub fn readings(&self) -> impl Iterator<Item = &str> {
        let plain = self.readings.is_empty().then_some(&self.raw);
        plain.into_iter().chain(&self.readings).map(String::as_str)
    }
}

fn readings(raw: &str) -> Vec<String> {
    let mut readings = vec![PathReading::CANONICAL.read(raw), as_written(raw)];
    readings.extend(reading::others(raw).map(|reading| reading.read(raw)));
    let mut distinct = FxHashSet::default();
    readings.retain(|reading| distinct.insert(reading.clone()));
    readings
}

impl fmt::Debug for RequestPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.raw, f)
    }
}

#[cfg(test)]
pub(super) mod tests;
