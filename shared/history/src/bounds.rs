//! What the judge takes for granted, and how strict it is. One struct, so that a simulation and a real
//! run say in one place in what they differ.

use crate::Invariant;

/// The parameters of a [`crate::Judge`].
#[derive(Debug, Clone, PartialEq)]
pub struct Bounds {
    /// Invariants that are not checked. Default: none.
    pub skipped: Vec<Invariant>,
    /// Whether all services that changed anything wrote the history, from before the first room was
    /// created. Otherwise nothing is concluded from the absence of an event: see each check.
    /// Default: yes.
    pub is_complete: bool,
    /// Whether all visitors wrote the history too, so that the leader's count of those who wait can be
    /// compared with the truth. Default: no.
    pub has_all_visitors: bool,
    /// How long a call whose outcome is unknown may still take effect, ms. Default: 10 s.
    pub settles_ms: u64,
    /// How long the clocks that a visitor and a gateway go by may differ from the history's, ms. Tokens count
    /// as over so much earlier. Default: 0, which is right for a simulation and wherever `at_ms` is Redis's
    /// time.
    pub clock_error_ms: u64,
    /// By how much somebody at the door may be overtaken, ms. Default: 8 s. The standby group is about four
    /// seconds' worth of admissions, at a pace that is estimated; in small rooms with several admissions, of
    /// which each gives seats to its own lowest positions, 6.6 s have been measured.
    pub overtaking_ms: u64,
    /// Somebody who has not asked for longer than this is not at the door, ms. Default: 1.2 s.
    pub attending_ms: u64,
    /// How long Redis may miss a room, or the key ring, that it held, ms. Default: 60 s.
    pub restored_within_ms: u64,
    /// How long a service may sign with a key after another took its place, and so how long tokens may
    /// outlive it, ms. Default: 5 s.
    pub key_lag_ms: u64,
    /// How long somebody who closed the tab may count as waiting, ms. Default: 400 s, the longest interval
    /// that is told, and what a lapsed lease lingers.
    pub ghost_ms: u64,
    /// How long somebody may ask in vain while there are seats for all who ask, ms. Default: 20 s.
    pub longest_vain_ms: u64,
    /// How long people must have been at the door before the use of the ceiling counts, ms. Default: 30 s.
    pub settling_ms: u64,
    /// The least use of the ceiling while people ask, 0 to 1; `None`: no bound. Default: none.
    pub least_use: Option<f64>,
    /// The largest median relative error of told waits; `None`: no bound. Default: none.
    pub most_wait_error: Option<f64>,
    /// How many violations of one invariant are told per room; further ones are only counted.
    /// Default: 100.
    pub most_told: u64,
}

// === impl Bounds ===

impl Default for Bounds {
    fn default() -> Self {
        Self {
            skipped: Vec::new(),
            is_complete: true,
            has_all_visitors: false,
            settles_ms: 10_000,
            clock_error_ms: 0,
            overtaking_ms: 8_000,
            attending_ms: 1_200,
            restored_within_ms: 60_000,
            key_lag_ms: 5_000,
            ghost_ms: 400_000,
            longest_vain_ms: 20_000,
            settling_ms: 30_000,
            least_use: None,
            most_wait_error: None,
            most_told: 100,
        }
    }
}
