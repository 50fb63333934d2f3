//! Entering a room: what both services do when someone claims a seat, and what they need for it.
//!
//! A claim is decided by the store and proven by a token. The pieces stand between `vestibule-store`
//! and `vestibule-token`, who do not know each other: [`Keystore`] keeps the key ring that Redis
//! holds sealed, [`Signer`] signs off the async threads, [`CipherCache`] has the ciphers of each room's
//! ids and tickets, [`ClaimBatcher`] batches the claims, [`wait_for_redis`] waits for all this at the start, and [`aws`] speaks the AWS-style API, which the
//! public and the private `generate_token` share. HTTP routes are *not* here.

pub mod aws;
mod ciphers;
mod claim_batcher;
mod keystore;
mod problems;
mod signer;
mod wait_for_redis;

pub use ciphers::{CipherCache, RoomCiphers};
pub use claim_batcher::ClaimBatcher;
pub use keystore::{KeyError, Keystore};
pub use problems::problem_of;
pub use signer::{Signer, SignerError, TokenSubject};
pub use wait_for_redis::wait_for_redis;
