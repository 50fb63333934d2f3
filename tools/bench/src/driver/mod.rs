//! The load driver. It does as little as possible, because it shares the processors with what it
//! measures.

mod answer;
mod caller;
mod connection;
mod gateway;
mod latency;
mod load;

pub(crate) use self::{
    answer::Answer,
    caller::{Caller, Claimants, Newcomers, Same, Ticket, Waiting},
    gateway::{Browsing, Entering, Inside},
    latency::latencies,
    load::{Done, Until, run},
};
