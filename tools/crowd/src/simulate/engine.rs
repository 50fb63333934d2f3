//! The border to whatever simulates: a plan goes in, the record of a run comes out. This engine is the
//! whole pair in virtual time: the real services, their flows, batches, feeds and loops, on a model of
//! Redis that runs the real scripts. Only visitors, network and clock are made up. Nothing else of this
//! tool knows how it works inside.

use std::{
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use anyhow::bail;
use serde_json::json;
use vestibule_domain::RoomSettings;
use vestibule_simulation::{
    Cast, Operation, OperationKind, RoomPlan, Scenario, Seed, World, in_virtual_time,
};

use super::{
    crowd::{BEGINS_MS, Crowd, Shape},
    regions::Origins,
    stop,
    visitor::{Habits, millis},
};
use crate::{
    crowd::{Patience, Setting, VisitorPlan},
    record::RunRecord,
};

/// The room's name.
const ROOM: &str = "simulated";

/// What is to be simulated.
#[derive(Debug)]
pub(super) struct Plan {
    /// What it is meant to be.
    pub(super) setting: Setting,
    /// How many admissions and controllers there are.
    pub(super) services: (usize, usize),
    /// The room.
    pub(super) room: RoomSettings,
    /// Who comes, in order of arrival.
    pub(super) visitors: Vec<VisitorPlan>,
    /// How they poll.
    pub(super) habits: Habits,
    /// Where they come from.
    pub(super) origins: Origins,
    /// Until when the room is held.
    pub(super) opens: Duration,
    /// When to stop at the latest.
    pub(super) timeout: Duration,
}

/// Simulates it; when it is interrupted, as far as it came.
///
/// # Errors
/// When the room is refused.
pub(super) async fn run(plan: Plan) -> anyhow::Result<RunRecord> {
    if let Some(error) = plan.room.errors().first() {
        bail!("{} {}", error.field, error.reason);
    }
    // Time stands still in there while anything is computed, so it has a thread to itself.
    stop::when_asked(move |stops| in_virtual_time(play(plan, stops))?).await
}

async fn play(plan: Plan, stops: Arc<AtomicBool>) -> anyhow::Result<RunRecord> {
    let world = World::start(&plan.scenario(), None, false);
    let shape = Shape {
        patience: Patience::new(&plan.setting),
        habits: plan.habits,
        origins: plan.origins,
        opens: plan.opens,
        timeout: plan.timeout,
        seed: plan.setting.seed,
    };
    let crowd = Crowd::new(world, ROOM, &plan.room, &plan.visitors, shape);
    drop(plan.visitors);
    let run = crowd.run(&stops).await?;
    Ok(RunRecord { setting: plan.setting, opened: plan.opens.as_secs_f64(), ..run })
}

// === impl Plan ===

impl Plan {
    /// The services and the room, and what an operator does with it; nobody comes.
    fn scenario(&self) -> Scenario {
        let held = !self.opens.is_zero();
        let settings = RoomSettings { queue_all: held, ..self.room.clone() };
        let opening = Operation {
            number: 0,
            at_ms: BEGINS_MS + millis(self.opens.as_secs_f64()),
            room: 0,
            what: OperationKind::Patch(json!({ "queue_all": false })),
        };
        let regions: Vec<_> = self.origins.names().map(str::to_owned).collect();
        let (admissions, controllers) = self.services;
        Scenario {
            defect: None,
            seed: Seed(self.setting.seed),
            length_ms: millis(self.timeout.as_secs_f64()),
            // Whoever comes from a region finds an admission there.
            services: (admissions.max(regions.len()), controllers),
            regions,
            rooms: vec![RoomPlan { name: ROOM.to_owned(), settings: json!(settings) }],
            cast: Cast::default(),
            operations: if held { vec![opening] } else { Vec::new() },
            faults: Vec::new(),
        }
    }
}
