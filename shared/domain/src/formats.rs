//! Formats: what services write for each other and hand to visitors. Each has a version, so that a later release
//! can change it while people wait.
//!
//! Every running service announces the newest version of each format that it reads, and the one that it writes. Who
//! writes what a running service does not read, or does not read what one writes, refuses to start: see
//! [`Announcement::conflict`]. So a release with a new version reads both and still writes the older one, and the release
//! after it writes the new one. A ticket says its version in its first byte, a snapshot in its field `format`, a request id
//! by what it deciphers to; the version of the keyspace is stamped by migrations.
//!
//! Snapshots of format 2 are differences from one of format 1 ([`crate::Difference`]). They are pushed besides whole
//! ones, and only while every running service reads them; so they are not among what a service announces to write.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, de::Error};

/// A version of each format.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Formats {
    /// Of tickets.
    pub ticket: u8,
    /// Of snapshots.
    pub snapshot: u32,
    /// Of request ids. A release that does not say it reads the first one alone.
    #[serde(default = "first")]
    pub request_id: u8,
}

/// What a running service says of its formats.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Announcement {
    /// The newest versions that it reads.
    #[serde(flatten)]
    pub reads: Formats,
    /// The versions that it writes; 0: it is of a release that does not say so.
    #[serde(default)]
    pub writes: Formats,
    /// Whether it hears what rooms push at their own shards, which only a Cluster has: see `store/feed/shards.rs`. Left
    /// out where it does not, as by a release that never does.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sharded: bool,
    /// Whether it reads a key ring with keys that sign with ES256: a release that does not say so reads no ring that has
    /// one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub es256: bool,
}

/// Why two services cannot run side by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FormatConflict {
    /// Of what.
    format: &'static str,
    /// The version that one of them writes.
    written: u32,
    /// The newest that the other one reads.
    read: u32,
    /// Which of them writes it: the one that is asked, or the other.
    is_ours: bool,
}

// === impl Announcement ===

impl Announcement {
    /// That of this release.
    pub const OURS: Self =
        Self { reads: Formats::KNOWN, writes: Formats::WRITTEN, sharded: false, es256: true };

    /// Why a service that says this cannot run beside one that says `other`.
    #[must_use]
    pub fn conflict(self, other: Self) -> Option<FormatConflict> {
        let unread = |writer: Self, reader: Self, is_ours| {
            let (written, read) = (writer.writes.each(), reader.reads.each());
            let mut pairs = written.into_iter().zip(read);
            let ((format, written), (_, read)) = pairs.find(|(w, r)| w.1 > r.1)?;
            Some(FormatConflict { format, written, read, is_ours })
        };
        unread(self, other, true).or_else(|| unread(other, self, false))
    }
}

// === impl FormatConflict ===

impl fmt::Display for FormatConflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { format, written, read, is_ours } = self;
        if *is_ours {
            write!(
                f,
                "this release writes {format}s of format {written}, and it reads up to {read}"
            )
        } else {
            write!(
                f,
                "it writes {format}s of format {written}, and this release reads up to {read}"
            )
        }
    }
}

// === impl Formats ===

impl Formats {
    /// The version of snapshots that are whole,
    const WHOLE: u32 = 1;
    /// and of those that are differences.
    pub const DIFFERENCE: u32 = 2;
    /// The newest versions that this release knows.
    pub const KNOWN: Self = Self { ticket: 4, snapshot: Self::DIFFERENCE, request_id: 2 };
    /// Those that it writes, whoever runs beside it.
    pub const WRITTEN: Self = Self { ticket: 4, snapshot: Self::WHOLE, request_id: 2 };

    /// Whether differences from snapshots are among them.
    #[must_use]
    pub fn have_differences(self) -> bool {
        self.snapshot >= Self::DIFFERENCE
    }

    /// What both read.
    #[must_use]
    pub fn common(self, other: Self) -> Self {
        Self {
            ticket: self.ticket.min(other.ticket),
            snapshot: self.snapshot.min(other.snapshot),
            request_id: self.request_id.min(other.request_id),
        }
    }

    fn each(self) -> [(&'static str, u32); 3] {
        [
            ("ticket", self.ticket.into()),
            ("snapshot", self.snapshot),
            ("request id", self.request_id.into()),
        ]
    }
}

fn first() -> u8 {
    1
}

/// Reads the version of a whole snapshot, unless it is newer than this release knows.
pub(crate) fn known_whole_snapshot<'de, D: Deserializer<'de>>(version: D) -> Result<u32, D::Error> {
    let (version, known) = (u32::deserialize(version)?, Formats::WHOLE);
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
        let one = Formats { ticket: 4, snapshot: 2, request_id: 2 };
        let other = Formats { ticket: 5, snapshot: 1, request_id: 1 };
        assert_eq!(one.common(other), Formats { ticket: 4, snapshot: 1, request_id: 1 });
    }

    #[test]
    fn a_release_that_writes_what_another_does_not_read_conflicts_with_it() {
        let formats = |snapshot| Formats { ticket: 4, snapshot, request_id: 1 };
        let release = |reads, writes| {
            let (reads, writes) = (formats(reads), formats(writes));
            Announcement { reads, writes, ..Announcement::default() }
        };
        let (old, between, new) = (release(1, 1), release(2, 1), release(2, 2));
        for (one, other) in [(old, old), (old, between), (between, new), (between, old)] {
            assert_eq!(one.conflict(other), None);
        }
        let said = |one: Announcement, other| one.conflict(other).map(|it| it.to_string());
        let too_new = "this release writes snapshots of format 2, and it reads up to 1";
        assert_eq!(said(new, old).as_deref(), Some(too_new));
        let too_old = "it writes snapshots of format 2, and this release reads up to 1";
        assert_eq!(said(old, new).as_deref(), Some(too_old));
    }

    #[test]
    fn this_release_runs_beside_one_that_reads_no_differences() {
        let before = Announcement { reads: Formats::WRITTEN, ..Announcement::OURS };
        assert_eq!(Announcement::OURS.conflict(before), None);
        let all = Announcement::OURS.reads.common(before.reads);
        assert!(Announcement::OURS.reads.have_differences() && !all.have_differences());
    }

    #[test]
    fn what_is_announced_is_read_by_releases_that_say_only_what_they_read_and_the_other_way_round()
    {
        let said = serde_json::to_string(&Announcement::OURS).unwrap();
        assert_eq!(serde_json::from_str::<Formats>(&said).unwrap(), Formats::KNOWN, "{said}");
        let older = r#"{"ticket":4,"snapshot":1,"request_id":2}"#;
        let older: Announcement = serde_json::from_str(older).unwrap();
        let reads = Formats { ticket: 4, snapshot: 1, request_id: 2 };
        assert_eq!(older, Announcement { reads, ..older });
        assert_eq!(Announcement::OURS.conflict(older), None);
        assert!(!older.sharded && !said.contains("sharded") && !older.es256);
        let on_a_cluster = Announcement { sharded: true, ..Announcement::OURS };
        let said = serde_json::to_string(&on_a_cluster).unwrap();
        assert_eq!(serde_json::from_str::<Announcement>(&said).unwrap(), on_a_cluster, "{said}");
        assert_eq!(serde_json::from_str::<Formats>(&said).unwrap(), Formats::KNOWN, "{said}");
    }

    #[test]
    fn a_format_that_is_not_announced_is_not_read() {
        let older: Formats = serde_json::from_str(r#"{"ticket":4}"#).unwrap();
        assert_eq!(older, Formats { ticket: 4, snapshot: 0, request_id: 1 });
    }
}
