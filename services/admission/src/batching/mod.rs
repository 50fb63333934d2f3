//! Combines requests of one kind, so that many share one call to Redis.

mod check_in;
mod held_claims;
mod join;
mod leave;
mod touch;

pub(crate) use check_in::CheckInBatcher;
pub(crate) use held_claims::HeldClaims;
pub(crate) use join::{JoinBatcher, Newcomer};
pub(crate) use leave::LeaveBatcher;
pub(crate) use touch::TouchBatcher;
