//! The path of a request in all its possible readings. Gateways and sites decode, merge and resolve
//! paths differently, and a visitor may write a path that the gateway and the site read
//! differently. A path is therefore read in every known way: it is covered when *any* reading is
//! covered, and bypasses the room only when *every* reading matches the rule. Holding a request is
//! the safe side.

mod literal;
mod loose;
mod reading;
mod written;

use std::fmt;

use rustc_hash::FxHashSet;

use self::{
    reading::PathReading,
    written::{as_written, is_plain},
};

/// A path as it was sent, and its readings.
#[derive(Clone)]
pub struct RequestPath {
    raw: String,
    /// The canonical form, the path as written, then the other readings; each differs from those
    /// before it. Empty: every way reads the raw path as it is written.
    readings: Vec<String>,
    goes_back: bool,
}

/// Why a path is not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// It is too long.
    #[error("must be at most {} bytes long, as those of browsers are", RequestPath::MAX_LENGTH)]
    TooLong,
    /// It is long, and written so that servers may read it in many ways.
    #[error("is too long for a path that servers may read in so many ways")]
    TooAmbiguous,
    /// It goes back, or names what may be a script before the rest, and servers may take it for a path of another room.
    #[error(
        "must not go back (..), nor name a script before the rest: servers may take it for a path of another room. Where \
         such an address is a room's own, name it among the room's routes"
    )]
    OfSeveralRooms,
}

// === impl RequestPath ===

impl RequestPath {
    /// The longest path, in bytes. Browsers do not send longer ones.
    pub const MAX_LENGTH: usize = 2_048;
    /// The most that is read of one path, in bytes, all readings together: what is done for a path grows with
    /// that, so that no path costs more than three times what the longest plain one does.
    const MAX_READ: usize = 3 * Self::MAX_LENGTH;
    /// What a reading of a short path costs, in bytes read.
    const LEAST_READ: usize = 128;

    /// The path `raw` as the client sent it: percent-encoded, without the query.
    ///
    /// # Errors
    /// If reading it would cost too much. Who decides about such a request must refuse it.
    pub fn parse(raw: &str) -> Result<Self, PathError> {
        if raw.len() > Self::MAX_LENGTH {
            return Err(PathError::TooLong);
        }
        if is_plain(raw) {
            return Ok(Self { raw: raw.to_owned(), readings: Vec::new(), goes_back: false });
        }
        let (readings, goes_back) = (readings(raw)?, literal::goes_back(raw));
        Ok(Self { raw: raw.to_owned(), readings, goes_back })
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

    /// Whether a segment is `..`, however it is written. Browsers resolve it before they send the path.
    #[must_use]
    pub fn goes_back(&self) -> bool {
        self.goes_back
    }

    /// Whether servers may take it for the path of something else altogether: it goes back, or its first segment is a host
    /// to them.
    #[must_use]
    pub fn leads_elsewhere(&self) -> bool {
        self.goes_back || literal::behind_a_host(&self.raw).is_some()
    }

    /// All readings: the canonical form first, then the path as it is written (with those escapes
    /// undone that a browser must write), then the others.
    pub fn readings(&self) -> impl Iterator<Item = &str> {
        let plain = self.readings.is_empty().then_some(&self.raw);
        plain.into_iter().chain(&self.readings).map(String::as_str)
    }
}

fn readings(raw: &str) -> Result<Vec<String>, PathError> {
    let (others, literal) = (reading::others(raw), literal::readings(raw));
    let behind_a_host = literal::behind_a_host(raw);
    let ways = others.len() + literal.len() + 2 + 2 * usize::from(behind_a_host.is_some());
    if raw.len().max(RequestPath::LEAST_READ) * ways > RequestPath::MAX_READ {
        return Err(PathError::TooAmbiguous);
    }
    let mut readings = vec![PathReading::CANONICAL.read(raw), as_written(raw)];
    readings.extend(literal);
    readings.extend(
        behind_a_host
            .into_iter()
            .flat_map(|raw| [PathReading::CANONICAL.read(raw), as_written(raw)]),
    );
    readings.extend(others.into_iter().map(|reading| reading.read(raw)));
    let mut distinct = FxHashSet::default();
    readings.retain(|reading| distinct.insert(reading.clone()));
    Ok(readings)
}

impl fmt::Debug for RequestPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.raw, f)
    }
}

#[cfg(test)]
pub(super) mod tests;
