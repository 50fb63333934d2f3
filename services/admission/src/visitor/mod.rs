//! A context: which room a request is about, who comes, and what it is answered.

mod binding_handle;
mod carrier;
pub(crate) mod cloudflare;
mod request;
mod responder;
mod response;
mod seat;

pub(crate) use binding_handle::BindingHandle;
pub(crate) use carrier::{Carrier, Cookies, TICKET, cookie_lines};
pub(crate) use request::{RoomContext, VisitorRequest};
pub(crate) use responder::{PresentedTicket, VisitorResponder};
pub(crate) use response::{CookieChange, Status, VisitorResponse, VisitorStatus};
pub(crate) use seat::{end_of, problem_or_stale};
