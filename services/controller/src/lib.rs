//! The controller: what changes over time, and the operators' API. Several run, one leads.
//!
//! `loops` holds what the leader does: it advances the line of every room, closes minutes into
//! the history, and brings rooms back that Redis has lost. `endpoints` holds what any instance
//! answers: one file for each operation, listed in `router`, each for callers of a role that
//! `access` names. What several
//! of them do to a room is in `rooms`. Everything that must be exact happens in Redis
//! (`vestibule-store`), every rule is in `vestibule-domain`. What is *not* here: visitors, who only
//! ever meet the admission service.
//!
//! `backup` is what the program does instead of serving, when it is told to: it copies rooms to a file and back. So is
//! `terminal`, a client of a running controller.

mod access;
pub mod api_types;
mod audit;
mod away;
pub mod backup;
mod beacon;
pub mod cli;
mod closed_minutes;
mod config;
mod declare;
mod endpoints;
mod extractors;
mod figures;
mod fingerprint;
mod guesses;
pub mod in_process;
mod key_time;
mod last_day;
mod layers;
mod leadership;
mod longest_validity;
mod loops;
mod metrics;
mod openapi;
#[cfg(test)]
mod parted;
mod rooms;
mod router;
mod run;
mod service;
mod sns;
mod state;
pub mod terminal;
mod tokens;
mod unique;
mod wait_checks;
mod webhooks;
mod yaml;

pub use run::run;
