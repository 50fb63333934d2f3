//! The load driver. It does as little as possible, because it shares the processors with what it
//! measures.

mod answer;
mod caller;
mod connection;
mod latency;
mod load;
mod newcomers;
mod places;
mod running;
mod visitors;

pub(crate) use self::{
    answer::Answer,
    caller::{Caller, Ticket},
    latency::{latencies, median},
    load::{Done, Until, run},
    newcomers::{Newcomer, Newcomers, Place},
    places::lost_places,
    visitors::{Habits, Seen, Visitors},
};
