//! What a service takes from the machine that it runs on: chance, and threads for cryptography. A
//! simulation passes its own, so that the same seed gives the same run.

use std::sync::Arc;

use vestibule_runtime::Random;

use crate::{KeyWork, Signer, key_work::OnThreads};

/// Chance and threads. Cloning is cheap.
#[derive(Debug, Clone)]
pub struct Machine {
    /// Random numbers.
    pub random: Random,
    /// Makes and opens signing keys.
    pub keys: Arc<dyn KeyWork>,
    /// Signs tokens.
    pub signer: Signer,
}

// === impl Machine ===

impl Machine {
    /// This machine: the system's random numbers, and threads on every core.
    #[must_use]
    pub fn real() -> Self {
        Self { random: Random::of_system(), keys: Arc::new(OnThreads), signer: Signer::default() }
    }
}
