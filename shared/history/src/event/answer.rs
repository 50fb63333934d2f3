//! Answers of Redis to the calls of services, as far as checks need them.

use serde::{Deserialize, Serialize};

use super::{NetworkClaimed, NetworksJoined};
use crate::{Programme, Rules};

/// The times and the key of an access token. Not the token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token {
    /// Unix seconds.
    pub issued_at: u64,
    /// Unix seconds. The token is valid *before* this second.
    pub expires_at: u64,
    /// Which key signs it; empty where the writer does not know.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kid: String,
}

/// The API that a session belongs to. It decides when the session ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionApi {
    /// The visitor's calls: renewed by use.
    #[default]
    Visitor,
    /// The AWS-style calls: ends with its token.
    Aws,
}

/// Newcomers were numbered: `first`, `first + 1`, …
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Joined {
    /// The room's reset epoch.
    pub reset_epoch: u64,
    /// The room's generation.
    pub generation: u32,
    /// The first number.
    pub first: u64,
    /// How many.
    pub count: u64,
    /// How many of them, the lowest, took a seat at once.
    pub entered: u64,
    /// Their token, if any entered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<Token>,
    /// Whether the room is suspended: all enter, without a seat.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub suspended: bool,
    /// Whether this may be the answer to an earlier call: then they may have joined long before, and entered, too, though
    /// nothing says so.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub again: bool,
    /// The API that they came by.
    pub api: SessionApi,
    /// The region where they came.
    pub region: String,
    /// Where the serving counter stands.
    pub serving_counter: i64,
    /// What became of each, where something of their networks is limited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub networks: Option<NetworksJoined>,
}

/// A claim was answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Claimed {
    /// The room's reset epoch.
    pub reset_epoch: u64,
    /// The reset epoch that the claim's request id was sealed for.
    pub id_epoch: u64,
    /// The room's generation.
    pub generation: u32,
    /// The visitor's queue number.
    pub number: u64,
    /// Its position; `None` while it waits for a draw.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<u64>,
    /// When it came, unix seconds.
    pub entered_at: u64,
    /// The API of the session.
    pub api: SessionApi,
    /// Whether it asked for a seat to be held, and not to enter.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hold: bool,
    /// The outcome.
    pub outcome: ClaimedAs,
    /// From which network, where something of that is limited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<NetworkClaimed>,
}

/// The outcome of a claim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClaimedAs {
    /// A session began.
    Seated(Token),
    /// A session had begun before.
    Repeated(Token),
    /// The room is suspended: in, without a seat.
    Uncounted(Token),
    /// It is not its turn.
    NotServed,
    /// No seat is free.
    NoSeat,
    /// A seat is held for it.
    Held {
        /// Until when, ms.
        until_ms: u64,
    },
    /// It did not claim in time.
    PositionExpired,
    /// Its session is over.
    SessionEnded,
    /// Its request id is of before a reset.
    Foreign,
}

/// The session of someone inside was renewed, or found to have ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Touched {
    /// The reset epoch that its request id was sealed for.
    pub id_epoch: u64,
    /// The room's generation.
    pub generation: u32,
    /// Its queue number.
    pub number: u64,
    /// The current token; `None`: the session has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<Token>,
}

/// Sessions were ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// The reset epoch of their request ids.
    pub reset_epoch: u64,
    /// Each of them.
    pub sessions: Vec<EndedSession>,
}

/// One of the sessions to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndedSession {
    /// Its queue number.
    pub number: u64,
    /// Whether this call ended it; `false`: there was none, or it had ended before.
    pub ended: bool,
}

/// The change of a room's config was answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Put {
    /// The version that it has now, if it was written and is known.
    pub version: Option<u64>,
    /// What it says.
    pub programme: Programme,
    /// The outcome.
    pub outcome: PutAs,
}

/// The outcome of a change of a room's config.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PutAs {
    /// The room is new.
    Created,
    /// It has the new config.
    Changed,
    /// Somebody else was faster. Nothing was written.
    Conflict,
}

/// A room's config was read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConfigRead {
    /// Its version.
    pub version: u64,
    /// What it says.
    pub programme: Programme,
}

/// A snapshot of a room.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SnapshotSeen {
    /// Whether it was pushed. Nothing is known then of when it was made but the time that it names.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pushed: bool,
    /// Redis's time in it, ms.
    pub redis_ms: u64,
    /// The room's reset epoch.
    pub reset_epoch: u64,
    /// Its generation.
    pub generation: u32,
    /// The version of its config.
    pub config_version: u64,
    /// The rules in force.
    pub rules: Rules,
    /// The highest queue number.
    pub queue_counter: u64,
    /// The serving counter.
    pub serving_counter: i64,
    /// Sessions that ever began.
    pub admitted: u64,
    /// Live sessions.
    pub active: u64,
    /// Seats that may be owed to holders from before Redis was lost.
    #[serde(default)]
    pub unconfirmed: u64,
    /// Whether services are awaited that were there when Redis went back, and have not told what they had seen.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub awaits: bool,
    /// Everyone who waits and is there, as the leader counts.
    pub waiting: u64,
    /// Admissions in the last 60 seconds, as Redis counts.
    pub admitted_last_minute: u64,
}

/// A key of the ring. Not the key itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Key {
    /// Its name.
    pub kid: String,
    /// Until when its tokens may be valid, unix seconds; `None`: it signs, or will.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retires_at: Option<u64>,
    /// When it begins to sign, unix seconds; `None`: it signs or has signed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signs_from: Option<u64>,
}
