//! Entering a room: the parts of a claim that both services share.
//!
//! A claim is decided by the store and proven by a token. The pieces here connect `vestibule-store`
//! and `vestibule-token`, which do not depend on each other: [`Keystore`] holds the key ring,
//! [`Signer`] signs off the async threads, [`CipherCache`] has the ciphers of each room's ids and
//! tickets, [`ClaimBatcher`] batches the claims, [`Machine`] is what all of them take from outside,
//! [`Surroundings`] are what a whole service takes from it, [`wait_for_redis()`] waits for all of this at
//! the start, [`Outbox`] tells webhooks what has happened, and [`aws`] has what the public and the private `generate_token` share. HTTP routes are in
//! the services.

pub mod aws;
mod ciphers;
mod claim_batcher;
mod key_error;
mod key_metrics;
mod key_work;
mod keystore;
mod machine;
mod outbox;
mod secret;
mod signed_tokens;
mod signer;
mod surroundings;
mod wait_for_redis;

use vestibule_runtime::problem::{Problem, ProblemType};
use vestibule_store::StoreError;

pub use ciphers::{CipherCache, RoomCiphers};
pub use claim_batcher::{ClaimBatcher, Claims};
pub use key_error::KeyError;
pub use key_metrics::KeyMetrics;
pub use key_work::KeyWork;
pub use keystore::Keystore;
pub use machine::Machine;
pub use outbox::{KnownWebhooks, Outbox};
pub use secret::read_secret;
pub use signer::{Sign, Signer, SignerError, TokenSubject};
pub use surroundings::Surroundings;
pub use wait_for_redis::wait_for_redis;

/// The problem document for an error of the store.
#[must_use]
pub fn problem_of(error: &StoreError) -> Problem {
    match error {
        StoreError::Unavailable(_) => {
            tracing::debug!(%error, "redis is not available");
            Problem::new(ProblemType::RedisUnavailable)
        }
        StoreError::RoomMissing | StoreError::Rewound => {
            Problem::new(ProblemType::RedisUnavailable)
                .detail("the room is being restored; your place is kept")
        }
        StoreError::Overloaded => Problem::new(ProblemType::Overloaded),
        StoreError::Fenced { .. }
        | StoreError::Unexpected(_)
        | StoreError::NewerSchema { .. }
        | StoreError::Incompatible { .. }
        | StoreError::Address(_) => Problem::internal(error),
    }
}
