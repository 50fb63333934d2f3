//! What the store can do: one file, one script, one typed function each.
//!
//! `Arguments` and `Reply` of each file are what its script takes and returns: the scripts say what
//! the fields mean.

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
mod phases;
mod position_expiry;
mod put_config;
mod read_snapshot;
mod regions;
mod report_watermarks;
mod reset;
mod restore;
mod roll_up;
mod rooms;
mod switch_phase;
mod touch;

pub use begin_tick::TickReport;
pub use changes::Changes;
pub use claim::{Claim, ClaimOutcome, ClaimReply, Claims, SessionKind, TokenRecord};
pub use history::MinuteTraffic;
pub use join::{Join, JoinMode, Joined};
pub use leave::{Departure, EndedAs};
pub use position_expiry::PositionExpiry;
pub use put_config::PutOutcome;
pub use touch::{Touch, Touched};

use serde::Serialize;
use vestibule_domain::RoomId;

/// The order of arguments and replies of the scripts that are called most.
pub(crate) mod positions {
    pub(crate) use super::{
        check_in::POSITIONS as CHECK_IN, claim::POSITIONS as CLAIM, join::POSITIONS as JOIN,
        touch::POSITIONS as TOUCH,
    };
}

/// The arguments of a script that needs nothing but the room's name.
#[derive(Serialize)]
struct RoomOnly<'a> {
    room: &'a RoomId,
}
