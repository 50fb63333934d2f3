//! The file: lines of JSON. The first is a header, then come the pieces of each room, what was changed by whom,
//! what belongs to no room, and at the end a checksum of all lines before, so that a file that was cut short or changed is refused.

use serde::{Deserialize, Serialize};
use vestibule_domain::RoomId;
use vestibule_store::{AuditCopy, DeploymentCopy, Piece};

/// The format that this release writes, and the newest that it reads. Raised whenever an older release would take a
/// file for something else than it is.
pub(super) const VERSION: u32 = 3;

/// One line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Line {
    /// The first one.
    Backup(Header),
    /// A piece of a room. Those of a room follow each other, its line is the last.
    Piece(RoomPiece),
    /// Some of what was changed by whom; since format 2.
    Audit(AuditCopy),
    /// What belongs to no room. Comes after all rooms.
    Deployment(DeploymentCopy),
    /// The last one.
    End(End),
}

/// What the file is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Header {
    /// The format: [`VERSION`].
    pub(super) version: u32,
    /// The release that wrote it.
    pub(super) release: String,
    /// When it was begun, unix seconds, by Redis's clock.
    pub(super) taken_at: u64,
    /// Whether every room was closed before: it has changed no more since.
    pub(super) closed: bool,
}

/// A piece of a room.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RoomPiece {
    /// Which room.
    pub(super) room: RoomId,
    /// The piece.
    #[serde(flatten)]
    pub(super) piece: Piece,
}

/// The end of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct End {
    /// How many lines there are before this one.
    pub(super) lines: u64,
    /// The SHA-256 of these lines, in hexadecimal digits.
    pub(super) sha256: String,
}
