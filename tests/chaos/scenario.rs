//! All that a run sets out to do, drawn under its seed.

use std::time::Duration;

use serde_json::Value;

use crate::{
    chance::Seed,
    crowd::Person,
    faults::{Fault, FaultKind, FaultKinds},
    rooms::{self, Operation},
    stage::Topology,
};

/// What runs of many seeds have in common.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Shape {
    /// How long things go wrong, and people come.
    pub(crate) lasts: Duration,
    /// Which kinds of faults happen.
    pub(crate) kinds: Vec<FaultKind>,
    /// How many faults.
    pub(crate) faults: u64,
    /// How many visitors.
    pub(crate) visitors: u64,
    /// How many operations.
    pub(crate) operations: u64,
    /// In which form Redis is there.
    pub(crate) topology: Topology,
}

/// A run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Scenario {
    /// Decides all that is left to chance.
    pub(crate) seed: Seed,
    /// How long things go wrong, and people come.
    pub(crate) lasts: Duration,
    /// Names and settings.
    pub(crate) rooms: Vec<(String, Value)>,
    /// Who comes.
    pub(crate) people: Vec<Person>,
    /// What operators do.
    pub(crate) operations: Vec<Operation>,
    /// What goes wrong.
    pub(crate) faults: Vec<Fault>,
    /// In which form Redis is there.
    pub(crate) topology: Topology,
}

// === impl Shape ===

impl Shape {
    /// As many visitors, operations and faults as fit into so many seconds of two processors.
    pub(crate) fn of_seconds(seconds: u64, mut kinds: Vec<FaultKind>, topology: Topology) -> Self {
        kinds.retain(|kind| kind.can_befall(topology));
        Self {
            lasts: Duration::from_secs(seconds),
            kinds,
            faults: (seconds * 2 / 3).max(3),
            visitors: seconds * 8,
            operations: seconds / 5,
            topology,
        }
    }

    /// How to play a run of this shape again.
    pub(crate) fn again(&self) -> String {
        format!(
            "again with VESTIBULE_CHAOS_FAULTS={} VESTIBULE_CHAOS_SECONDS={} \
             VESTIBULE_CHAOS_COUNT={} VESTIBULE_CHAOS_TOPOLOGY={} and its seed in \
             VESTIBULE_CHAOS_SEEDS",
            FaultKinds(self.kinds.clone()),
            self.lasts.as_secs(),
            self.faults,
            self.topology.name()
        )
    }
}

// === impl Scenario ===

impl Scenario {
    /// The scenario of `seed`.
    pub(crate) fn draw(seed: Seed, shape: &Shape) -> Self {
        let rooms = rooms::draw(seed);
        let to_ms = u64::try_from(shape.lasts.as_millis()).unwrap_or(u64::MAX);
        Self {
            seed,
            lasts: shape.lasts,
            people: Person::draw(seed, shape.visitors, rooms.len(), shape.lasts),
            operations: Operation::draw(seed, shape.operations, rooms.len(), shape.lasts),
            faults: Fault::draw(seed, &shape.kinds, shape.faults, (1_000.min(to_ms), to_ms)),
            rooms,
            topology: shape.topology,
        }
    }
}

#[test]
fn a_seed_draws_the_same_scenario_again() {
    let shape = Shape::of_seconds(20, FaultKind::ALL.to_vec(), Topology::Pair);
    let scenario = Scenario::draw(Seed(3), &shape);
    assert_eq!(scenario, Scenario::draw(Seed(3), &shape));
    assert_ne!(scenario.people, Scenario::draw(Seed(4), &shape).people);
    assert_eq!((scenario.people.len(), scenario.rooms.len()), (160, 3));
}
