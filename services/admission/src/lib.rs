//! The admission service: stateless, public, many instances. It answers visitors and gateways.
//!
//! A request comes in through `router`, is opened by `context` (which room, which ticket), is
//! decided by one file of `endpoints`, and reaches Redis, if at all, with others of its kind
//! through `batching`. Polls are answered from memory. What is *not* here: advancing the line,
//! which is the controller's.

// The futures of a request, down to the call of Redis, are deeper than the default.
#![recursion_limit = "256"]

mod authorizer;
mod batching;
pub mod cli;
mod config;
mod endpoints;
mod ext_authz;
mod loops;
mod metrics;
mod openapi;
mod page;
mod router;
mod run;
mod service;
mod state;
mod visitor;

pub use run::run;
