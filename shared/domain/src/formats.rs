//! Formats: what services write for each other and hand to visitors. Each has a version, so that a later release
//! can change it while people wait.
//!
//! Every running service announces the newest version of each format that it reads, and nobody may write a newer
//! one than all of them read; today there is one of each. So a release with a new version reads both, and writes
//! the older one until the last instance is gone that does not know better. A ticket says its version in its first
//! byte, a snapshot in its field `format`; the version of the keyspace is stamped by migrations.

use serde::{Deserialize, Deserializer, Serialize, de::Error};

/// A version of each format.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Formats {
    /// Of tickets.
    pub ticket: u8,
    /// Of snapshots.
    pub snapshot: u32,
}

// === impl Formats ===

impl Formats {
    /// The newest versions that this release knows.
    pub const KNOWN: Self = Self { ticket: 4, snapshot: 1 };

    /// What both read.
    #[must_use]
    pub fn common(self, other: Self) -> Self {
        Self { ticket: self.ticket.min(other.ticket), snapshot: self.snapshot.min(other.snapshot) }
    }
}

/// Reads the version of a snapshot, unless it is newer than this release knows.
pub(crate) fn known_snapshot<'de, D: Deserializer<'de>>(version: D) -> Result<u32, D::Error> {
    let (version, known) = (u32::deserialize(version)?, Formats::KNOWN.snapshot);
    if version <= known {
        return Ok(version);
    }
    Err(D::Error::custom(format!("format {version}, and this release knows up to {known}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_common_is_the_lowest_of_each() {
        let (one, other) = (Formats { ticket: 4, snapshot: 2 }, Formats { ticket: 5, snapshot: 1 });
        assert_eq!(one.common(other), Formats { ticket: 4, snapshot: 1 });
    }

    #[test]
    fn a_format_that_is_not_announced_is_not_read() {
        let older: Formats = serde_json::from_str(r#"{"ticket":4}"#).unwrap();
        assert_eq!(older, Formats { ticket: 4, snapshot: 0 });
    }
}
