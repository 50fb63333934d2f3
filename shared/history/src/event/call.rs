//! Calls of services whose outcome is not known, or not known yet.

use serde::{Deserialize, Serialize};

use super::{Key, SessionApi};
use crate::Programme;

/// A call, without its outcome.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Call {
    /// Numbers for newcomers.
    Join {
        /// How many.
        count: u64,
        /// The digests of their networks, where something is limited.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        networks: Vec<u64>,
    },
    /// A visitor's claim.
    Claim {
        /// The reset epoch of its request id.
        reset_epoch: u64,
        /// Its queue number.
        number: u64,
        /// Its position, if it has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        position: Option<u64>,
        /// The API of the session.
        api: SessionApi,
        /// The digest of its network, where something is limited.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        network: Option<u64>,
    },
    /// The renewal of sessions.
    Touch {
        /// Queue numbers.
        numbers: Vec<u64>,
    },
    /// The end of sessions.
    End {
        /// The reset epoch of their request ids.
        reset_epoch: u64,
        /// Queue numbers.
        numbers: Vec<u64>,
    },
    /// Places that are given back.
    GiveUp {
        /// The reset epoch of their request ids.
        reset_epoch: u64,
        /// Queue numbers.
        numbers: Vec<u64>,
        /// The digests of their visitors' networks, where something is limited.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        networks: Vec<u64>,
    },
    /// An operator's move of the serving counter.
    Increment {
        /// By how much.
        by: i64,
    },
    /// The leader's move of the serving counter.
    Serve,
    /// A reset.
    Reset,
    /// A change of the room's config.
    Put {
        /// The version that it shall have; `None`: whatever it is, one more.
        version: Option<u64>,
        /// What it shall be.
        programme: Programme,
    },
    /// A deletion.
    Delete,
    /// The restoration of a room that Redis has lost.
    Restore {
        /// The reset epoch that it keeps.
        reset_epoch: u64,
        /// The generation that it shall have.
        generation: u32,
    },
    /// The leader has heard of numbers that somebody had handed out who was silent: those up to them are left out.
    CatchUp {
        /// The highest of them.
        queue_counter: u64,
    },
    /// A change of the key ring.
    ChangeKeys {
        /// The keys that shall be in it.
        keys: Vec<Key>,
    },
    /// A reading of the key ring. It is written down only where it was not answered.
    ReadKeys,
}

// === impl Call ===

impl Call {
    /// Whether others can see its effect before its answer is known, and could not explain it: then
    /// it is written down when it is sent, as [`super::What::Sent`].
    #[must_use]
    pub fn is_seen_by_others(&self) -> bool {
        match self {
            Self::Join { .. }
            | Self::Claim { .. }
            | Self::Touch { .. }
            | Self::Serve
            | Self::ReadKeys => false,
            Self::End { .. }
            | Self::GiveUp { .. }
            | Self::Increment { .. }
            | Self::Reset
            | Self::Put { .. }
            | Self::Delete
            | Self::Restore { .. }
            | Self::CatchUp { .. }
            | Self::ChangeKeys { .. } => true,
        }
    }
}
