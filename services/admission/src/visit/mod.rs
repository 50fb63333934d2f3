//! A visit: which room a request is about, who comes, and what it is answered.

mod answer;
mod caller;
mod carrier;
pub(crate) mod cloudflare;
mod front;
mod journey;
mod seat;

pub(crate) use answer::{Answer, Handed, Status, VisitorStatus};
pub(crate) use caller::{Caller, Visit};
pub(crate) use carrier::{Carrier, Cookies, TICKET};
pub(crate) use front::FrontOf;
pub(crate) use journey::{Journey, Kept};
pub(crate) use seat::{ended_as, problem_or_stale};
