//! Rooms in Redis: the only crate that speaks to it.
//!
//! Everything that must be exact happens in Lua scripts, one per operation, atomically and on
//! Redis's own clock; [`Store`] has one typed function for each. [`Feed`] keeps every service's
//! memory of the rooms fresh, [`batch`] combines many callers' requests in one call. What is *not* here: the
//! rules themselves (`vestibule-domain`), cryptography (`vestibule-token`), HTTP (the services).

pub mod batch;
mod clock;
pub mod commands;
mod document;
mod error;
mod feed;
mod keys;
mod link;
mod memory;
mod migrations;
mod positional;
mod recording;
mod scripts;
mod server_check;
mod shared_reading;
mod spans;
mod store;

pub use clock::{Clock, ManualClock};
pub use commands::*;
pub use error::StoreError;
pub use feed::{Feed, HEARTBEAT, KnownRoom, StoredConfig};
pub use link::{Answers, Link, LinkOptions, Message, Messages, ServerAddress, open as open_link};
pub use memory::{AnsweredCall, Ending, Highest, PlaceBits, Seat};
pub use migrations::known_schema;
pub use scripts::script_name;
pub use server_check::{Finding, ServerCheck};
pub use shared_reading::SharedReading;
pub use store::Store;
