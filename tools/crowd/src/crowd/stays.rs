//! How long visitors stay inside.

use std::time::Duration;

use clap::ValueEnum;

use super::number::seconds;

/// How long visitors stay, around `--stay`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum StaySpread {
    /// Everyone stays exactly as long
    Fixed,
    /// Many leave early and a few stay much longer; `--stay` is the mean
    Exponential,
}

// === impl StaySpread ===

impl StaySpread {
    /// A stay around `mean`. `chance` is uniform in [0, 1): the inverse of the distribution's
    /// function.
    pub(super) fn stay(self, mean: Duration, chance: f64) -> Duration {
        match self {
            Self::Fixed => mean,
            Self::Exponential => seconds(-(1.0 - chance).ln() * mean.as_secs_f64()),
        }
    }
}
