//! Challenges of newcomers, apart from what decides about them (`flows/challenge.rs`): what they are asked
//! to solve, the providers that are asked whether they have, and how it went.

mod counter;
mod demand;
mod provider_options;
mod providers;
mod slots;

use std::sync::{Arc, Mutex, PoisonError};

use vestibule_domain::challenge::JoinRate;

pub use self::provider_options::ProviderOptions;
pub(crate) use self::{
    counter::{ChallengeCounter, Outcome},
    demand::{Demand, Task},
    providers::{Providers, Verdict},
};

/// Challenges of newcomers.
#[derive(Debug)]
pub(crate) struct Challenges {
    /// The other providers.
    pub(crate) providers: Arc<Providers>,
    /// How it went.
    pub(crate) counter: ChallengeCounter,
    /// How many pass here.
    rate: Mutex<JoinRate>,
}

// === impl Challenges ===

impl Challenges {
    /// Nobody has come yet.
    pub(crate) fn new(providers: Arc<Providers>) -> Self {
        Self { providers, counter: ChallengeCounter::default(), rate: Mutex::default() }
    }

    /// Counts one who has passed.
    pub(crate) fn count_passed(&self, now_ms: u64) {
        self.rate.lock().unwrap_or_else(PoisonError::into_inner).count(now_ms);
    }

    /// How many pass per second.
    pub(crate) fn passed_per_second(&self, now_ms: u64) -> f64 {
        self.rate.lock().unwrap_or_else(PoisonError::into_inner).per_second(now_ms)
    }
}
