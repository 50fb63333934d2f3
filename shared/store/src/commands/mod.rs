//! What the store can do: one file, one script, one typed function each.

mod apply_plan;
mod begin_tick;
mod changes;
mod check_in;
mod claim;
mod delete_room;
mod draw;
mod expired_tokens;
mod extend_claim_window;
mod history;
mod increment;
mod join;
mod key_ring;
mod lease;
mod leave;
mod position_expiry;
mod put_config;
mod read_snapshot;
mod regions;
mod report_watermarks;
mod reset;
mod restore;
mod roll_up;
mod rooms;
mod touch;

pub use begin_tick::{Pool, TickReport};
pub use changes::Changes;
pub use claim::{Claim, ClaimOutcome, ClaimReply, Claims, SessionKind, TokenRecord};
pub use history::MinuteTraffic;
pub use join::{Join, JoinMode, Joined};
pub use leave::{Departure, EndedAs};
pub use position_expiry::PositionExpiry;
pub use put_config::PutOutcome;
pub(crate) use read_snapshot::parse_snapshot;
pub use report_watermarks::WatermarkReport;
pub use restore::Restoration;
pub use touch::{Touch, Touched};

use vestibule_domain::RoomId;

use crate::keys::{Part, RoomKeys};

/// The keys of `parts` of a room, in order.
fn keys<const N: usize>(room: &RoomId, parts: [Part; N]) -> Vec<String> {
    parts.into_iter().map(|part| RoomKeys(room).key(part)).collect()
}

/// Text for an argument that may be absent.
fn optional(value: Option<u64>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}
