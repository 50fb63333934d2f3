//! What the crowd is like: the same options for a rehearsal and for a simulation.

use std::time::Duration;

use clap::Args;

use super::{Arrivals, StaySpread, duration};

/// What the crowd looks like as a whole.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "The crowd")]
pub(crate) struct CrowdOptions {
    /// How many visitors come
    #[arg(long, env = "VESTIBULE_VISITORS", value_name = "N", default_value_t = 1000,
          value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) visitors: u32,

    /// Over how long they arrive; 0 = all at once
    #[arg(long, env = "VESTIBULE_ARRIVE", value_name = "DURATION", default_value = "30s",
          value_parser = duration::parse)]
    pub(crate) arrive: Duration,

    /// How arrivals spread over that time
    #[arg(long, env = "VESTIBULE_ARRIVALS", value_enum, default_value_t = Arrivals::Even)]
    pub(crate) arrivals: Arrivals,

    /// How long each stays inside before it leaves
    #[arg(long, env = "VESTIBULE_STAY", value_name = "DURATION", default_value = "20s",
          value_parser = duration::parse)]
    pub(crate) stay: Duration,

    /// Whether everyone stays exactly that long
    #[arg(long, env = "VESTIBULE_STAY_SPREAD", value_name = "SPREAD", value_enum,
          default_value_t = StaySpread::Fixed)]
    pub(crate) stay_spread: StaySpread,

    /// Share who close the tab without a word, at a random moment of their wait (0 to 1)
    #[arg(long, env = "VESTIBULE_ABANDON", value_name = "SHARE", default_value_t = 0.0,
          value_parser = share)]
    pub(crate) abandon: f64,

    /// Random seed: the same seed makes the same crowd
    #[arg(long, env = "VESTIBULE_SEED", value_name = "N")]
    pub(crate) seed: Option<u64>,
}

// === impl CrowdOptions ===

impl CrowdOptions {
    /// The seed that was given, or a fresh one: short enough to be typed again.
    #[expect(clippy::disallowed_methods, reason = "the seed of a run that was given none")]
    pub(crate) fn seed(&self) -> u64 {
        self.seed.unwrap_or_else(|| u64::from(rand::random::<u32>()))
    }
}

/// Reads a share.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(value) if (0.0..=1.0).contains(&value) => Ok(value),
        _ => Err("expected a share from 0 to 1".to_owned()),
    }
}
