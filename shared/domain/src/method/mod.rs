//! Queueing methods: which of the waiting visitors enters next.
//!
//! A method is one file that implements [`Method`]; the trait's defaults hold for whatever it does
//! not implement. It has no state: everything it needs comes with the tick's input, the snapshot
//! and the visitor's ticket. A new method is a file, a name in the enum below and an arm in
//! [`QueueingMethod::rules`]. The Redis scripts do not know methods, only the two switches
//! [`Method::is_open`] and [`Method::rejects`], and that nobody wins by chance in any but `random`.

mod fifo;
mod passthrough;
mod random;
mod reject;

use serde::{Deserialize, Serialize};

use crate::{
    accrued_hazard::AccruedHazard,
    check_in::{self, LineConditions},
    plan::{Plan, TickInput},
    serving::Serving,
    wait::{Estimate, Standby},
};

/// How a room chooses who enters next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum QueueingMethod {
    /// First come, first served.
    #[default]
    Fifo,
    /// Everyone who waits has the same chance at every moment.
    Random,
    /// Everyone enters, whatever the limits; visitors are counted all the same.
    Passthrough,
    /// Nobody enters, and newcomers are turned away.
    Reject,
}

/// The rules of one method.
pub trait Method: std::fmt::Debug + Sync {
    /// The name used in the API.
    fn name(&self) -> &'static str;

    /// Whether everyone enters at once, beyond the limits.
    fn is_open(&self) -> bool {
        false
    }

    /// Whether newcomers are turned away and nobody enters. Those in line keep their places.
    fn rejects(&self) -> bool {
        false
    }

    /// Whether people enter in the order of their positions, so that "ahead" means something.
    fn is_ordered(&self) -> bool {
        true
    }

    /// Whether a visitor beyond the serving counter may enter, given what it has been credited with
    /// and its secret `win_threshold`.
    fn has_won(&self, _accrued_hazard: AccruedHazard, _win_threshold: f64) -> bool {
        false
    }

    /// What the leader's tick decides, in a room that is not held. `standby` should be served beyond the
    /// free seats.
    fn plan(&self, input: &TickInput, _standby: Standby, serving: &mut Serving) -> Plan {
        Plan::stay(input, serving)
    }

    /// The interval after which a waiting visitor should poll again, in ms, before bounds and
    /// jitter.
    fn interval_ms(&self, conditions: &LineConditions) -> f64 {
        check_in::by_distance_ms(conditions)
    }

    /// How long a visitor still has to wait.
    fn estimate(&self, _conditions: &LineConditions) -> Estimate {
        Estimate::UNKNOWN
    }
}

// === impl QueueingMethod ===

impl QueueingMethod {
    /// Every method, in the order in which the documentation lists them.
    pub const ALL: [Self; 4] = [Self::Fifo, Self::Random, Self::Passthrough, Self::Reject];

    /// Its rules.
    #[must_use]
    pub fn rules(self) -> &'static dyn Method {
        match self {
            Self::Fifo => &fifo::Fifo,
            Self::Random => &random::Random,
            Self::Passthrough => &passthrough::Passthrough,
            Self::Reject => &reject::Reject,
        }
    }

    /// The name used in the API.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.rules().name()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_api() {
        for method in QueueingMethod::ALL {
            assert_eq!(serde_json::to_value(method).unwrap(), method.name());
        }
    }
}
