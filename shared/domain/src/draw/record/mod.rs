//! What is published about a draw: first a commitment, and after the draw everything that is needed
//! to compute every place again. The record is all that is needed to check it.
//!
//! | when | state | what is in it |
//! |---|---|---|
//! | from the event's creation | `committed` | the commitment, and the beacon's round if there is one |
//! | from the pre-queue's start | `collecting` | the same |
//! | from the event's start | `drawing` | the same, while the beacon is awaited |
//! | then, for good | `drawn` | who took part, both seeds, the beacon's answer |
//! | the event was withdrawn | `cancelled` | the commitment |
//!
//! A record stays when its room is reset, so that it can be checked for good, but it is `superseded` then: numbers are given
//! anew, and its own are nobody's.
//!
//! [`DrawRecord::check`] recomputes the seeds. Whether the beacon's signature is genuine is checked
//! in `vestibule-token`.

mod check;

use std::ops::Not;

use serde::{Deserialize, Serialize};

use super::{Draw, Seed, to_hex};
use crate::{RoomId, schedule::Beacon};
pub use check::DrawFault;

/// The only method: the swap-or-not shuffle with SHA-256 and 90 rounds.
pub const METHOD: &str = "swap-or-not-sha256-90";

/// The published record of one draw. Times are seconds since 1970, seeds are 64 hex digits, and
/// fields that are not known yet are left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DrawRecord {
    /// The room.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub room: RoomId,
    /// The event's name.
    pub event: String,
    /// How places follow from the seed: [`METHOD`].
    pub method: String,
    /// The state of the draw.
    pub state: DrawState,
    /// SHA-256 of the committed seed.
    pub commitment: String,
    /// When the pre-queue opens.
    pub prequeue_start: u64,
    /// When the pre-queue ends: later visitors stand behind the draw.
    pub event_start: u64,
    /// The lowest queue number that took part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = u64, required = false))]
    pub first_queue_number: Option<u64>,
    /// How many took part: consecutive queue numbers from the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = u64, required = false))]
    pub participants: Option<u64>,
    /// Queue numbers among them that nobody had been seen to hold, from and to each: so many may have been handed out when
    /// the store had lost something. They took part, so that no place depends on who turns out to hold one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub left_out: Vec<(u64, u64)>,
    /// The seed that was committed to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, required = false))]
    pub committed_seed: Option<String>,
    /// The final seed, from which places are computed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, required = false))]
    pub seed: Option<String>,
    /// When it was drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = u64, required = false))]
    pub drawn_at: Option<u64>,
    /// In which reset epoch of the room it was drawn: numbers that were given after a later reset are others', and took no part.
    /// Left out: not drawn yet, or by a release that did not note it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = u64, required = false))]
    pub reset_epoch: Option<u64>,
    /// The room was reset since: this draw is of people who have lost their places, and nobody's number is from it any more.
    /// Left out: it was not.
    #[serde(default, skip_serializing_if = "Not::not")]
    #[cfg_attr(feature = "openapi", schema(default = false, required = false))]
    pub superseded: bool,
    /// The public randomness that is mixed in, if the event names a beacon.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<DocumentedBeacon>))]
    pub beacon: Option<BeaconRecord>,
}

/// The state of a draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum DrawState {
    /// The commitment is published; the pre-queue is not open yet.
    Committed,
    /// The pre-queue is open.
    Collecting,
    /// The pre-queue is over, and the beacon's answer is awaited.
    Drawing,
    /// Every place is known.
    Drawn,
    /// There will be no draw.
    Cancelled,
}

/// The round of a public randomness beacon that a draw uses, and its outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BeaconRecord {
    /// Which round of which beacon.
    #[serde(flatten)]
    pub asked: Beacon,
    /// The outcome; `None` before the draw.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<BeaconOutcome>,
}

/// The outcome of asking the beacon.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum BeaconOutcome {
    /// It answered, and the signature was genuine: its randomness is in the final seed.
    Verified {
        /// The round's signature, in hex.
        signature: String,
        /// The signature of the round before, in hex, where the chain signs it too.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        previous_signature: Option<String>,
        /// SHA-256 of the signature, in hex.
        randomness: String,
    },
    /// It did not answer in time. Then the committed seed is the final one, as stated beforehand.
    Unanswered,
}

/// The members of a [`BeaconRecord`] in one schema, which flattened types do not add up to.
#[cfg(feature = "openapi")]
#[derive(utoipa::ToSchema)]
#[schema(as = BeaconRecord, description = "The round of a public randomness beacon that a draw is bound to, and what came of it.")]
#[expect(dead_code, reason = "read by the API document only")]
struct DocumentedBeacon {
    /// Where the beacon answers.
    url: String,
    /// The round that goes into the draw.
    round: u64,
    /// The beacon's public key, in hex.
    public_key: String,
    /// What came of asking the beacon; absent before the draw. `unanswered`: it did not answer in
    /// time, and the committed seed is the final one.
    #[schema(required = false)]
    outcome: DocumentedOutcome,
    /// The round's signature, in hex; if `verified`.
    #[schema(required = false)]
    signature: String,
    /// The signature of the round before, in hex, where the chain signs it too.
    #[schema(required = false)]
    previous_signature: String,
    /// SHA-256 of the signature, in hex; if `verified`.
    #[schema(required = false)]
    randomness: String,
}

/// The tags of [`BeaconOutcome`].
#[cfg(feature = "openapi")]
#[derive(utoipa::ToSchema)]
#[schema(as = BeaconOutcome, rename_all = "snake_case", description = "What came of asking the beacon.")]
#[expect(dead_code, reason = "read by the API document only")]
enum DocumentedOutcome {
    Verified,
    Unanswered,
}

// === impl DrawRecord ===

impl DrawRecord {
    /// Completes the record with a `draw` that was held at `drawn_at` with the committed seed.
    /// `outcome` is the beacon's, if the record names one.
    #[must_use]
    pub fn drawn(
        mut self,
        draw: &Draw,
        committed_seed: &Seed,
        outcome: Option<BeaconOutcome>,
        drawn_at: u64,
    ) -> Self {
        if let Some(beacon) = &mut self.beacon {
            beacon.outcome = outcome;
        }
        Self {
            state: DrawState::Drawn,
            first_queue_number: Some(draw.first()),
            participants: Some(draw.count()),
            committed_seed: Some(to_hex(committed_seed)),
            seed: Some(to_hex(draw.seed())),
            drawn_at: Some(drawn_at),
            ..self
        }
    }
}

#[cfg(test)]
mod tests;
