//! The path of a request, and everything that it may come to mean: gateways and sites decode,
//! merge and resolve paths differently, and a visitor may write one so that the gateway and the
//! site do not read the same. A path is therefore read in every way there is: it is covered when
//! *any* reading is, and passes by a rule only when *every* reading does. Holding is the safe side.

mod manner;
mod written;

use std::fmt;

use rustc_hash::FxHashSet;

use self::{
    manner::Manner,
    written::{as_written, is_plain},
};

/// A path as it was sent, and its readings.
#[derive(Clone, PartialEq, Eq)]
pub struct RequestPath {
    raw: String,
    /// The canonical form, the path as written, then what else it may mean; each differs from
    /// those before it. None: there is only the raw path, read as it is written.
    readings: Vec<String>,
}

// === impl RequestPath ===

impl RequestPath {
    /// A path longer than this, in bytes, is not one that a browser sends; whoever takes it from
    /// outside refuses it, since every reading costs time.
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

    /// The path as a careful gateway reads it: escapes decoded once, a backslash is a slash, none
    /// is doubled, `.` and `..` are resolved, never above `/`. What is not UTF-8 becomes U+FFFD.
    #[must_use]
    pub fn canonical(&self) -> &str {
        self.readings.first().unwrap_or(&self.raw)
    }

    /// Everything that it may mean: the canonical form first, then the path as it is written (with
    /// escapes undone that could not be written otherwise), then what else there is.
    pub fn readings(&self) -> impl Iterator<Item = &str> {
        let plain = self.readings.is_empty().then_some(&self.raw);
        plain.into_iter().chain(&self.readings).map(String::as_str)
    }
}

fn readings(raw: &str) -> Vec<String> {
    let mut readings = vec![Manner::CANONICAL.read(raw), as_written(raw)];
    readings.extend(manner::others(raw).map(|manner| manner.read(raw)));
    let mut seen = FxHashSet::default();
    readings.retain(|reading| seen.insert(reading.clone()));
    readings
}

impl fmt::Debug for RequestPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.raw, f)
    }
}

#[cfg(test)]
pub(super) mod tests;
