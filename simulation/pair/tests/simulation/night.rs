//! Nights written by hand.

use serde_json::{Value, json};
use vestibule_simulation::{
    Cast, Fault, FaultKind, Hostility, Operation, OperationKind, Part, Person, Role, RoomPlan,
    Scenario, Seed,
};

/// A night in one room with these settings.
pub(crate) fn night(settings: Value, seconds: u64) -> Night {
    let rooms = vec![RoomPlan { name: "sale".to_owned(), settings }];
    Night(Scenario {
        seed: Seed(1),
        length_ms: seconds * 1000,
        services: (2, 2),
        regions: vec!["eu".to_owned()],
        rooms,
        cast: Cast::default(),
        operations: Vec::new(),
        faults: Vec::new(),
        defect: None,
    })
}

/// A room with so many seats.
pub(crate) fn seats(ceiling: u64) -> Value {
    json!({ "total_active_users": ceiling, "session_duration_seconds": 300 })
}

/// A night, to be filled.
pub(crate) struct Night(Scenario);

// === impl Night ===

impl Night {
    /// So many people come one after the other from `from_s` on, stay for `stays_s`, and leave.
    pub(crate) fn people(self, count: u64, from_s: u64, each_ms: u64, stays_s: u64) -> Self {
        self.visitors(count, (from_s * 1000, each_ms), stays_s, true)
    }

    /// The same, a millisecond after each other, and once inside they only read.
    pub(crate) fn readers(self, count: u64, from_s: u64, stays_s: u64) -> Self {
        self.visitors(count, (from_s * 1000, 1), stays_s, false)
    }

    fn visitors(
        mut self,
        count: u64,
        (from_ms, each_ms): (u64, u64),
        stays_s: u64,
        browses: bool,
    ) -> Self {
        for nth in 0..count {
            let person = Person {
                arrives_ms: from_ms + nth * each_ms,
                patience_ms: None,
                returns_after_ms: None,
                stays_ms: stays_s * 1000,
                says_goodbye: true,
                hidden: false,
                throttled: false,
                tabs: 1,
                browses,
            };
            self.add(Role::Polite(person));
        }
        self
    }

    /// So many hostile visitors.
    pub(crate) fn hostile(
        mut self,
        count: u64,
        hostility: Hostility,
        at_s: u64,
        per_s: u64,
    ) -> Self {
        for _ in 0..count {
            let (arrives_ms, times_per_second) = (at_s * 1000, per_s);
            self.add(Role::Hostile { arrives_ms, hostility, times_per_second });
        }
        self
    }

    /// Something goes wrong.
    pub(crate) fn fault(
        mut self,
        kind: FaultKind,
        at_ms: u64,
        lasts_ms: u64,
        back_ms: u64,
    ) -> Self {
        let number = self.0.faults.len() as u64;
        self.0.faults.push(Fault { number, at_ms, kind, lasts_ms, back_ms });
        self
    }

    /// An operator does something.
    pub(crate) fn operation(mut self, at_ms: u64, what: OperationKind) -> Self {
        let number = self.0.operations.len() as u64;
        self.0.operations.push(Operation { number, at_ms, room: 0, what });
        self
    }

    /// Under another seed.
    pub(crate) fn seed(mut self, seed: u64) -> Self {
        self.0.seed = Seed(seed);
        self
    }

    /// With so many of each service.
    pub(crate) fn services(mut self, admissions: usize, controllers: usize) -> Self {
        self.0.services = (admissions, controllers);
        self
    }

    /// The scenario.
    pub(crate) fn end(self) -> Scenario {
        self.0
    }

    fn add(&mut self, role: Role) {
        let number = self.0.cast.0.len() as u64;
        self.0.cast.0.push(Part { number, room: 0, role, origin: None });
    }
}
