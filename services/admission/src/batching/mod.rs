//! Combines requests of one kind, so that many share one call to Redis.

mod check_in;
mod claim_windows;
mod claims_of_place;
mod give_up;
mod held_claims;
mod join;
mod join_key;
mod leave;
mod newcomer;
mod room_state;
mod sent_check_ins;
mod spend;
mod touch;
mod unanswered;

pub(crate) use check_in::CheckInBatcher;
pub(crate) use claim_windows::{ClaimWindows, Served};
pub(crate) use give_up::GiveUpBatcher;
pub(crate) use held_claims::HeldClaims;
pub(crate) use join::{JoinBatcher, JoinReply};
pub(crate) use join_key::Reach;
pub(crate) use leave::LeaveBatcher;
pub(crate) use newcomer::Newcomer;
pub(crate) use room_state::RoomState;
pub(crate) use spend::SpendBatcher;
pub(crate) use touch::TouchBatcher;
