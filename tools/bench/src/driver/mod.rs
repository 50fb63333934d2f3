//! The load driver: as lean as it can be, because it shares the processors with what it measures.

mod answer;
mod caller;
mod connection;
mod gateway;
mod load;

pub(crate) use self::{
    answer::Answer,
    caller::{Caller, Claimants, Newcomers, Same, Ticket, Waiting},
    gateway::{Entering, HOST, Inside},
    load::{Done, Until, run},
};
