//! The admission service: stateless, public, many instances. It answers visitors and gateways.
//!
//! A request goes down through the layers once, and its answer comes back up once: the edge
//! (`endpoints`, `authorizer`, `page`) takes it apart with `extractors`, which open the ticket;
//! one of the `flows` does what it asks for, by the rules of `vestibule_domain::poll` and, if Redis is
//! needed, through `batching`; `responses` seal the ticket and write the answer. Polls are answered
//! from memory. Advancing the line is *not* here: that is the controller's.

// The nested futures of a request, down to the call to Redis, exceed the default of 128.
#![recursion_limit = "256"]

mod authorizer;
mod batching;
mod caches;
mod challenges;
pub mod cli;
mod clients;
mod config;
pub mod described;
mod endpoints;
mod ext_authz;
mod extractors;
mod flows;
pub mod in_process;
mod limit_counter;
mod loops;
mod metrics;
mod oidc;
mod openapi;
mod page;
mod region;
mod responses;
mod router;
mod run;
mod service;
mod state;
#[cfg(test)]
mod tests;

pub use run::run;
