//! What one network gets of a room: told only where something of a network is limited. A network is known by a digest;
//! nobody can tell its addresses from it.

use serde::{Deserialize, Serialize};

/// The limits that a call was made with. `None`: no such limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NetworkLimitsSeen {
    /// Newcomers in any minute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub joins: Option<u64>,
    /// Places in line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub places: Option<u64>,
    /// Sessions at a time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seats: Option<u64>,
    /// Whether whoever is over one is only counted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub only_logs: bool,
}

/// What became of newcomers whose networks are limited.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworksJoined {
    /// What each network might have.
    pub limits: NetworkLimitsSeen,
    /// The digest of each one's network, and what became of it.
    pub newcomers: Vec<(u64, JoinedAs)>,
}

/// What became of a newcomer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JoinedAs {
    /// It has a seat, and this number.
    Seated(u64),
    /// It has a place in line, and this number.
    Placed(u64),
    /// It was turned away: there were too many newcomers.
    TooManyJoins,
    /// It was turned away: there were too many places.
    TooManyPlaces,
}

/// From which network somebody claims.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkClaimed {
    /// Its digest.
    pub network: u64,
    /// How many sessions it may have; `None`: any number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seats: Option<u64>,
    /// Whether that is only counted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub only_logs: bool,
    /// Whether it got no seat because its network has as many as it may.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub kept_out: bool,
}
