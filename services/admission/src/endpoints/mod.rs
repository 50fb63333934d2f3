//! One operation per file: what a request asks for, the flow that does it, and what it is answered.
//! The list of routes is in [`crate::router`].

mod authorize;
mod authorize_envoy;
pub(crate) mod aws;
mod claim_seat;
mod enter_room;
mod get_challenge;
mod get_draw;
mod get_jwks;
mod get_live;
mod get_logo;
mod get_page;
mod get_status;
mod head;
mod join_room;
mod leave_room;
pub(crate) mod oidc;
mod redeem_session;
mod responses;
mod revoke;

pub(crate) use authorize::*;
pub(crate) use authorize_envoy::{PREFIX as ENVOY_PREFIX, authorize_envoy};
pub(crate) use claim_seat::*;
pub(crate) use enter_room::*;
pub(crate) use get_challenge::*;
pub(crate) use get_draw::*;
pub(crate) use get_jwks::*;
pub(crate) use get_live::*;
pub(crate) use get_logo::*;
pub(crate) use get_page::*;
pub(crate) use get_status::*;
pub(crate) use head::*;
pub(crate) use join_room::*;
pub(crate) use leave_room::*;
pub(crate) use redeem_session::*;
pub(crate) use revoke::*;
