//! What visitors are answered over HTTP: a flow's [`crate::flows::VisitorResponse`] as JSON, in
//! Cloudflare's form, and as cookies; a flow's error as a problem document.

mod cloudflare;
mod problem;
mod ticket;
mod visitor;

pub(crate) use self::{cloudflare::StatusBody, ticket::SealedTicket, visitor::VisitorReply};
