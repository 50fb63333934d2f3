//! Desks: where requests of one kind gather and travel to Redis together.

mod check_ins;
mod draw_cache;
mod held_claims;
mod joins;
mod leaves;
mod touches;

pub(crate) use check_ins::CheckInBatcher;
pub(crate) use draw_cache::DrawCache;
pub(crate) use held_claims::HeldClaims;
pub(crate) use joins::{JoinBatcher, Newcomer};
pub(crate) use leaves::LeaveBatcher;
pub(crate) use touches::TouchBatcher;
