//! What visitors do and are told. Written by whoever plays them: a simulation, or a rehearsal.

use serde::{Deserialize, Serialize};

use super::Token;

/// What a visitor did, or was told. The visitor's name is the event's `by`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Act {
    /// It has a place.
    Arrived {
        /// Its queue number; 0: let in without one.
        number: u64,
        /// The reset epoch of its request id.
        reset_epoch: u64,
        /// Whether it does what it is told. What a hostile one is told proves nothing.
        honest: bool,
    },
    /// It asked, and was answered.
    Asked(Asked),
    /// It asked, and got no answer.
    Unanswered,
    /// It closed the tab without a word.
    ClosedTab,
    /// It opened the tab again.
    CameBack,
    /// It is inside.
    Entered {
        /// Its queue number.
        number: u64,
        /// The reset epoch of its request id.
        reset_epoch: u64,
        /// Its token.
        token: Token,
    },
    /// It passes as somebody inside, with a ticket whose session is bound to a client.
    Inside {
        /// The ticket's queue number.
        number: u64,
        /// The reset epoch of its request id.
        reset_epoch: u64,
        /// The generation of the room's state that granted its seat.
        generation: u32,
        /// What the session is bound to: a digest.
        bound_to: u64,
        /// Who passes: a number, the same for all who are alike to this kind of binding.
        client: u64,
    },
    /// It left, from inside, and knows that it was heard.
    Left,
    /// It gave its place up, and knows that it was heard.
    GaveUp,
}

/// What a visitor was told when it asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    /// Whether it asked for a seat (a claim), and not only where it stands.
    pub claimed: bool,
    /// Where it stands.
    pub status: ToldStatus,
    /// Its position, if it was told one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<u64>,
    /// People ahead, if it was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ahead: Option<u64>,
    /// The wait that it was told, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_seconds: Option<u64>,
    /// After how long to ask again, ms; 0: not by itself.
    #[serde(default)]
    pub next_ms: u64,
}

/// Where a visitor was told that it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToldStatus {
    /// In line.
    Waiting,
    /// May enter.
    YourTurn,
    /// Inside.
    Admitted,
    /// Its place, or its session, ran out.
    Expired,
    /// Its session was ended, or the room lets nobody in.
    Closed,
    /// What it carries is of no room, or of before a reset.
    Unknown,
}
