//! How challenges went, for Prometheus.

use prometheus_client::{
    encoding::{EncodeLabelSet, EncodeLabelValue, LabelValueEncoder},
    metrics::{counter::Counter, family::Family},
    registry::Registry,
};
use vestibule_domain::RoomId;

/// Counts newcomers of rooms with a challenge. Cloning is cheap.
#[derive(Debug, Clone, Default)]
pub(crate) struct ChallengeCounter {
    outcomes: Family<Labels, Counter>,
    endless: Family<RoomLabel, Counter>,
}

/// What came of one newcomer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Outcome {
    /// It has solved the challenge.
    Solved,
    /// It has a pass.
    Pass,
    /// It has shown nothing.
    Missing,
    /// What it has shown is no solution of this room's.
    Wrong,
    /// What it has shown is too old.
    Expired,
    /// What it has shown was used before.
    Used,
    /// The provider does not know its solution, or no longer.
    Refused,
    /// The provider could not be asked.
    ProviderFailed,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Labels {
    room: String,
    outcome: Outcome,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RoomLabel {
    room: String,
}

// === impl ChallengeCounter ===

impl ChallengeCounter {
    /// Registers the counters.
    pub(crate) fn register(&self, registry: &mut Registry) {
        let help = "Newcomers of rooms with a challenge, by what came of it";
        registry.register("challenges", help, self.outcomes.clone());
        let help = "Newcomers of rooms with a challenge who were put into the endless line";
        registry.register("challenges_endless_line", help, self.endless.clone());
    }

    /// Counts one.
    pub(crate) fn count(&self, room: &RoomId, outcome: Outcome) {
        self.outcomes.get_or_create(&Labels { room: room.to_string(), outcome }).inc();
    }

    /// Counts one who is put into the endless line, besides what came of it.
    pub(crate) fn count_endless(&self, room: &RoomId) {
        self.endless.get_or_create(&RoomLabel { room: room.to_string() }).inc();
    }
}

// === impl Outcome ===

impl Outcome {
    /// Its label.
    fn name(self) -> &'static str {
        match self {
            Self::Solved => "solved",
            Self::Pass => "pass",
            Self::Missing => "missing",
            Self::Wrong => "wrong",
            Self::Expired => "expired",
            Self::Used => "used",
            Self::Refused => "refused",
            Self::ProviderFailed => "provider_failed",
        }
    }

    /// Whether the newcomer gets a place by it.
    pub(crate) fn passes(self) -> bool {
        matches!(self, Self::Solved | Self::Pass)
    }

    /// Why what the newcomer has shown does not count; `None`: it has shown nothing.
    pub(crate) fn reason(self) -> Option<&'static str> {
        match self {
            Self::Wrong => Some("it is neither a solution of this room's challenge nor a pass"),
            Self::Expired => Some("it has expired"),
            Self::Used => Some("it was used before"),
            Self::Refused => Some("the provider does not accept it"),
            Self::Missing | Self::Solved | Self::Pass | Self::ProviderFailed => None,
        }
    }
}

impl EncodeLabelValue for Outcome {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> Result<(), std::fmt::Error> {
        self.name().encode(encoder)
    }
}
