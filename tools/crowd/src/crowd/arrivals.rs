//! How a crowd's arrivals spread over their time.

use clap::ValueEnum;

/// How fast a rush fades over its time.
const FADE: f64 = 5.0;

/// How arrivals spread over their time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Arrivals {
    /// Evenly
    Even,
    /// A rush at the start that fades: two thirds come in the first fifth
    Burst,
    /// Ever more towards the middle, then ever fewer
    Peak,
}

// === impl Arrivals ===

impl Arrivals {
    /// When, from 0 to 1, that part of all has arrived: the inverse of the distribution's function.
    pub(super) fn moment(self, part: f64) -> f64 {
        match self {
            Self::Even => part,
            Self::Burst => -(1.0 - part * (1.0 - (-FADE).exp())).ln() / FADE,
            Self::Peak if part < 0.5 => (part / 2.0).sqrt(),
            Self::Peak => 1.0 - ((1.0 - part) / 2.0).sqrt(),
        }
    }
}
