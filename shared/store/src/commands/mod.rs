//! What the store can do: one file, one script, one typed function each.

mod advance;
mod check_in;
mod claim;
mod delete_room;
mod draw;
mod expired_tokens;
mod history;
mod increment;
mod join;
mod key_ring;
mod knock;
mod lease;
mod leave;
mod position_expiry;
mod put_program;
mod read_snapshot;
mod regions;
mod reset;
mod restore;
mod roll_up;
mod rooms;
mod survey;
mod touch;
mod witness;

pub use claim::{Claim, Claimed, Claims, Outcome, SessionKind, TokenRecord};
pub use history::MinuteTraffic;
pub use join::{Join, JoinMode, Joined};
pub use leave::{Departure, EndedAs};
pub use position_expiry::PositionExpiry;
pub use put_program::Put;
pub(crate) use read_snapshot::parse_snapshot;
pub use restore::Restoration;
pub use survey::{Pool, SurveyReport};
pub use touch::{Touch, Touched};
pub use witness::Testimony;

use vestibule_domain::RoomId;

use crate::keys::{Part, RoomKeys};

/// The keys of `parts` of a room, in order.
fn keys<const N: usize>(room: &RoomId, parts: [Part; N]) -> Vec<String> {
    parts.into_iter().map(|part| RoomKeys(room).of(part)).collect()
}

/// Text for an argument that may be absent.
fn optional(value: Option<u64>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}
