//! A Redis inside the process, for simulations: one value that answers commands and runs the real
//! Lua scripts, with the time in the caller's hand.
//!
//! It is a pure, synchronous model of one server. It has no network, no threads, no clock and no
//! chance of its own: the same calls at the same times have the same answers. Lost and late replies,
//! links, clients and subscriptions are not here; the layer above has them.
//!
//! - [`Server`] answers [`Server::call`]; what PUBLISH sent is taken with [`Server::take_messages`].
//! - [`State`] is all that a server holds. [`Server::snapshot`] is cheap, [`Server::restore`] goes back
//!   to any earlier state, and a replica or a promotion is a second server with the first one's state.
//! - [`Keyspace`] looks at what is held, without a command.
//! - [`Engine`] runs the scripts. It compiles each once, so one engine serves many servers, one after
//!   the other.
//! - With the feature `redis`, `wire` translates the commands and values of the crate of that name.
//!
//! It answers as Redis 7 or as Valkey 9 does: see [`Dialect`]. Tests compare it with both.

mod arguments;
#[expect(clippy::unnecessary_wraps, reason = "all commands have one signature")]
mod commands;
mod core;
mod decimal;
mod engine;
mod failure;
mod flags;
mod keyspace;
mod number;
mod options;
mod random;
mod refusal;
mod reply;
mod server;
mod sorted_set;
#[cfg(feature = "redis")]
pub mod wire;

pub use engine::Engine;
pub use keyspace::{Dump, Dumped, Hash, Keyspace, Set};
pub use options::{Dialect, Options, Role};
pub use reply::{Bytes, Message, Reply};
pub use server::{Server, State};
pub use sorted_set::SortedSet;

/// Microseconds since 1970, by the server's clock.
pub type Micros = u64;
