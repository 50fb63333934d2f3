//! One operation per file. The list of routes is in [`crate::router`].

pub(crate) mod aws;
mod claim_seat;
mod get_draw;
mod get_jwks;
mod get_status;
mod join_room;
mod leave_room;
mod seen;

pub(crate) use claim_seat::*;
pub(crate) use get_draw::*;
pub(crate) use get_jwks::*;
pub(crate) use get_status::*;
pub(crate) use join_room::*;
pub(crate) use leave_room::*;
