//! A crowd before it sets out: who comes when, stays how long and loses patience, drawn up from one
//! seed; and the words in which a rehearsal and a simulation speak of it alike. Nothing here knows
//! HTTP, Redis or what came of it.

mod arrivals;
mod call;
mod company;
mod company_options;
pub(crate) mod duration;
mod hoarding_options;
pub(crate) mod method;
pub(crate) mod number;
mod options;
mod patience;
mod plan;
mod room_options;
mod senders;
mod setting;
mod stays;

pub(crate) use self::{
    arrivals::Arrivals,
    call::Call,
    company::{Company, Hostile, HostilePlan},
    company_options::CompanyOptions,
    hoarding_options::HoardingOptions,
    options::{CrowdOptions, share},
    patience::{KnownWait, Patience},
    plan::{VisitorPlan, draw_up},
    room_options::RoomOptions,
    senders::Senders,
    setting::Setting,
    stays::StaySpread,
};
