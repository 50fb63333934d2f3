//! The controller: what changes over time, and the operators' API. Several run, one leads.
//!
//! [`loops`] holds what the leader does: it advances the line of every room, closes minutes into
//! the history, and brings rooms back that Redis has lost. [`endpoints`] holds what any instance
//! answers: one file for each operation, listed in [`router`], under one bearer token. Everything
//! that must be exact happens in Redis (`vestibule-store`), every rule is `vestibule-domain`'s.
//! What is *not* here: visitors, who only ever meet the admission service.

pub mod api_types;
pub mod beacon;
pub mod cli;
pub mod config;
pub mod endpoints;
pub mod extractors;
pub mod loops;
pub mod metrics;
pub mod openapi;
pub mod room_config;
pub mod rooms;
pub mod router;
mod routes;
mod run;
mod service;
pub mod state;

pub use config::Config;
pub use run::run;
pub use service::{Service, StartError};
