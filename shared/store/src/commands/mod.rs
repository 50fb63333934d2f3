//! What the store can do: one typed function for each script, in a file for each subject.
//!
//! Private structs such as `Arguments` and `Reply` are what a script takes and returns: the script says
//! what their fields mean.

mod announce;
mod answered_calls;
mod apply_plan;
mod audit;
mod backup;
mod begin_tick;
mod burials;
mod caller_bindings;
mod changes;
mod check_in;
mod claim;
mod delete_room;
mod draw;
mod ended_sessions;
mod expired_tokens;
mod extend_claim_window;
mod foreign;
mod give_up;
mod history;
mod inlet;
mod join;
mod kept_seats;
mod key_ring;
mod lead;
mod lease;
mod leave;
mod line;
mod name_server;
mod note_counts;
mod outbox;
mod phases;
mod places;
mod position_expiry;
mod put_config;
mod read_serving;
mod recall;
mod reconcile;
mod redeem;
mod regions;
mod revoke;
mod roll_up;
mod rooms;
mod routes_changed;
pub(crate) mod server_info;
mod spend;
mod stops;
mod switch_phase;
mod tell_time;
mod testimony;
mod texts;
mod times;
mod touch;
mod traffic;

pub use announce::{CONTROLLER, Running, is_controller};
pub use apply_plan::Push;
pub use audit::{AuditLimits, AuditList, AuditPage, AuditQuery};
pub use backup::{AuditCopy, DeploymentCopy, Expiring, Import, Piece};
pub use begin_tick::TickReport;
pub use burials::Burials;
pub use caller_bindings::CallerBindings;
pub use changes::Changes;
pub use check_in::MOST_CHECK_INS;
pub use claim::{
    Claim, ClaimNetwork, ClaimOutcome, ClaimReplies, ClaimReply, SessionKind, TokenRecord,
};
pub use delete_room::{Deletion, People};
pub use ended_sessions::EndedSessions;
pub use give_up::GivenUp;
pub use history::MinuteTraffic;
pub use inlet::{InletAlarm, LetIn, PeriodDecision, Replaced, Replacing};
pub use join::{Admittance, BeyondLimits, Join, JoinMode, Joined};
pub use lead::{Asking, Standing, Term};
pub use lease::RoutesTurn;
pub use leave::{Departure, EndedAs};
pub use line::{Begun, Moved};
pub use outbox::{KeptEvent, MOST_EVENTS, Observed, OutgoingEvent};
pub use places::PlacesPage;
pub use position_expiry::PositionExpiry;
pub use put_config::PutOutcome;
pub use reconcile::Round;
pub use redeem::RedeemOutcome;
pub use revoke::{Revocation, Revoked};
pub use roll_up::RolledUp;
pub use routes_changed::RoutesChanged;
pub use spend::Spending;
pub use testimony::{Account, Called, Rest};
pub use touch::{Touch, Touched};
pub use traffic::Traffic;

use std::time::Duration;

use serde::Serialize;
use vestibule_domain::RoomId;

/// The arguments of a script that needs nothing but the room's name.
#[derive(Serialize)]
struct RoomOnly<'a> {
    room: &'a RoomId,
}

fn in_ms(length: Duration) -> u64 {
    u64::try_from(length.as_millis()).unwrap_or(u64::MAX)
}
