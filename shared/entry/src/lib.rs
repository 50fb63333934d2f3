//! Entering a room: what both services do when someone claims a seat, and what they need for it.
//!
//! A claim is decided by the store and proven by a token. The pieces stand between `vestibule-store`
//! and `vestibule-token`, who do not know each other: [`KeyKeeper`] keeps the key ring that Redis
//! holds sealed, [`Signer`] signs off the async threads, [`Seals`] has the ciphers of each room's
//! ids and tickets, [`Desk`] batches the claims, [`reach_redis`] waits for all this at the start, and [`aws`] speaks the AWS-style API, which the
//! public and the private `generate_token` share. HTTP routes are *not* here.

pub mod aws;
mod desk;
mod key_keeper;
mod problems;
mod reach;
mod seals;
mod signer;

pub use desk::Desk;
pub use key_keeper::{KeyError, KeyKeeper};
pub use problems::problem_of;
pub use reach::reach_redis;
pub use seals::{Seals, SealsOf};
pub use signer::{Signer, SignerError, TokenFor};
