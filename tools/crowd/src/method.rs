//! The order in which a room lets people in, as the command line, the controller and the report
//! name it. What it means is the services' business.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// A queueing method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum QueueingMethod {
    /// In order of arrival
    Fifo,
    /// By chance, the same for everyone who waits
    Random,
    /// Everyone at once, whatever the limits
    Passthrough,
    /// Nobody: newcomers are turned away
    Reject,
    /// One that this tool does not know.
    #[value(skip)]
    #[serde(other)]
    Other,
}

impl QueueingMethod {
    /// Its name, as everybody writes it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Fifo => "fifo",
            Self::Random => "random",
            Self::Passthrough => "passthrough",
            Self::Reject => "reject",
            Self::Other => "other",
        }
    }

    /// Whether the limits hold.
    pub(crate) fn keeps_limits(self) -> bool {
        self != Self::Passthrough
    }

    /// Whether there is an order of arrival that could be broken.
    pub(crate) fn keeps_order(self) -> bool {
        !matches!(self, Self::Random | Self::Passthrough)
    }
}
