//! Desks: where requests of one kind gather and travel to Redis together.

mod check_ins;
mod door;
mod draws;
mod joins;
mod leaves;
mod touches;

pub(crate) use check_ins::CheckIns;
pub(crate) use door::Door;
pub(crate) use draws::DrawBoard;
pub(crate) use joins::{JoinDesk, Newcomer};
pub(crate) use leaves::LeaveDesk;
pub(crate) use touches::TouchDesk;
