//! All that a run consists of: rooms, who comes, what operators do, what goes wrong. Drawn under a seed,
//! or written by hand in a test.

use serde_json::{Value, json};

use crate::{
    Seed,
    faults::{Fault, FaultKind},
    limits,
    operator::Operation,
    visitors::{Cast, CastShape},
};

/// From when on things go wrong, ms: before, everything is started and the rooms are created.
const QUIET_MS: u64 = 3_000;

/// A run.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// Decides all that is left to chance.
    pub seed: Seed,
    /// How long it lasts, ms of virtual time.
    pub length_ms: u64,
    /// How many admissions and controllers there are.
    pub services: (usize, usize),
    /// Where the admissions stand, in turn.
    pub regions: Vec<String>,
    /// The rooms.
    pub rooms: Vec<RoomPlan>,
    /// Who comes.
    pub cast: Cast,
    /// What operators do.
    pub operations: Vec<Operation>,
    /// What goes wrong.
    pub faults: Vec<Fault>,
    /// A mistake in the scripts: what they do instead of what they should. For tests of the judge.
    pub defect: Option<(String, String)>,
}

/// A room.
#[derive(Debug, Clone, PartialEq)]
pub struct RoomPlan {
    /// Its name.
    pub name: String,
    /// Its settings, as the API has them.
    pub settings: Value,
}

/// What scenarios of many seeds have in common.
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    /// How long a run lasts, ms.
    pub length_ms: u64,
    /// How many visitors there are at most.
    pub visitors: u64,
    /// Which kinds of faults may happen.
    pub faults: Vec<FaultKind>,
    /// How many faults there are at most.
    pub most_faults: u64,
    /// How many operations there are at most.
    pub most_operations: u64,
    /// The share of hostile visitors.
    pub hostile: f64,
    /// The share of AWS-style clients.
    pub aws: f64,
    /// The share of nights in which rooms have limits per network and bind sessions, and hoarders and sharers come.
    pub limited: f64,
}

// === impl Shape ===

impl Default for Shape {
    /// Half a minute of small rooms, with everything that may go wrong.
    fn default() -> Self {
        Self {
            length_ms: 30_000,
            visitors: 60,
            faults: FaultKind::ALL.to_vec(),
            most_faults: 3,
            most_operations: 3,
            hostile: 0.1,
            aws: 0.1,
            limited: 0.3,
        }
    }
}

// === impl Scenario ===

impl Scenario {
    /// The scenario of `seed`.
    #[must_use]
    pub fn draw(seed: Seed, shape: &Shape) -> Self {
        let mut chance = seed.chance("scenario", 0);
        let services = (
            usize::try_from(chance.within(1..4)).unwrap_or(1),
            usize::try_from(chance.within(1..3)).unwrap_or(1),
        );
        let mut rooms: Vec<_> =
            (0..chance.within(1..4)).map(|at| RoomPlan::draw(seed, at)).collect();
        let is_limited = limits::are_drawn(seed, shape.limited);
        if is_limited {
            limits::limit_rooms(seed, &mut rooms);
        }
        let visitors = chance.within(1..shape.visitors.max(1) + 1);
        let span = (QUIET_MS, shape.length_ms.max(QUIET_MS + 1));
        let cast = CastShape {
            visitors,
            arrive_ms: shape.length_ms,
            stay_ms: chance.within(2_000..20_000),
            hostile: if chance.happens(0.5) { shape.hostile } else { 0.0 },
            aws: if chance.happens(0.3) { shape.aws } else { 0.0 },
            rooms: rooms.len(),
        };
        let settings: Vec<_> = rooms.iter().map(|room| room.settings.clone()).collect();
        let mut cast = Cast::draw(seed, &cast);
        let mut operations = Operation::draw(seed, shape.most_operations, &settings, span);
        if is_limited {
            limits::bring_company(seed, &mut cast, rooms.len(), shape.length_ms);
            let changes = limits::change_limits(seed, rooms.len(), span);
            operations.extend(changes.filter(|_| shape.most_operations > 0));
        }
        Self {
            seed,
            length_ms: shape.length_ms,
            services,
            regions: vec!["eu".to_owned(), "us".to_owned()],
            cast,
            operations,
            faults: Fault::draw(seed, &shape.faults, shape.most_faults, span),
            rooms,
            defect: None,
        }
    }

    /// The last fault that loses data or stops the world is over, ms.
    #[must_use]
    pub fn settled_ms(&self) -> u64 {
        self.faults.iter().map(|fault| fault.at_ms + fault.lasts_ms).max().unwrap_or(0)
    }
}

// === impl RoomPlan ===

impl RoomPlan {
    fn draw(seed: Seed, at: u64) -> Self {
        let mut chance = seed.chance("room", at);
        let method = *chance.one_of(&["fifo", "fifo", "fifo", "random"]);
        // A rate may not be above the ceiling.
        let (ceiling, rate) = match chance.within(0..10) {
            0 => (None, Some(chance.within(20..600))),
            1 | 2 => (Some(600), Some(chance.within(20..600))),
            3 => (None, None),
            _ => (Some(chance.within(1..20)), None),
        };
        let settings = json!({
            "queueing_method": method,
            "total_active_users": ceiling,
            "new_users_per_minute": rate,
            "session_duration_seconds": chance.within(5..60),
            "position_expiry_seconds": chance.happens(0.8).then(|| chance.within(10..120)),
        });
        Self { name: format!("room-{at}"), settings }
    }
}
