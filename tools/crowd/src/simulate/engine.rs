//! The border to whatever simulates: a plan goes in, the record of a run comes out. This engine is the
//! whole pair in virtual time: the real services, their flows, batches, feeds and loops, on a model of
//! Redis that runs the real scripts. Only visitors, network and clock are made up. Nothing else of this
//! tool knows how it works inside.

use std::{
    mem,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::{bail, ensure};
use rand::{Rng, SeedableRng, rngs::SmallRng};
use serde_json::json;
use tokio::time::{self, interval_at, sleep_until};
use vestibule_domain::{RoomId, RoomSettings};
use vestibule_simulation::{
    Cast, Habits, Newcomers, Operation, OperationKind, Origins, RoomPlan, Scenario, Seed, World,
    in_virtual_time,
};

use super::{doorway::Doorway, stop, watched_doorway::WatchedDoorway};
use crate::{
    crowd::{HostilePlan, Senders, Setting, VisitorPlan, duration::human, number::millis},
    progress::Progress,
    record::{RoomSample, RunRecord, Simulation},
    visits::{self, Ground, HouseRules, Recorder, company},
};

/// The room's name.
const ROOM: &str = "simulated";
/// When the first visitor may come, ms after the services are started: they are long ready.
const BEGINS_MS: u64 = 60_000;
/// How exact times are, in seconds.
const GRAIN_SECONDS: f64 = 0.001;
/// How often the leader looks at the room, in seconds.
const TICK_SECONDS: f64 = 0.25;
/// How long before the first visitor the ghosts' numbers are taken, ms: about as long as that takes.
const GHOSTS_BEFORE_MS: u64 = 1_000;
/// How many of them are taken at a time.
const GHOSTS_AT_A_TIME: u32 = 16_384;
/// How long after its opening a room surely lets people in, ms.
const SURELY_OPEN_MS: u64 = 1_000;

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
    /// Who comes besides them and means no good, in order of arrival.
    pub(super) hostile: Vec<HostilePlan>,
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

#[expect(clippy::disallowed_methods, reason = "how long it takes in reality")]
async fn play(mut plan: Plan, stops: Arc<AtomicBool>) -> anyhow::Result<RunRecord> {
    let begun = Instant::now();
    let room = RoomId::new(ROOM)?;
    let world = World::start(&plan.scenario(), None, false);
    sleep_until(world.network().moment(BEGINS_MS - GHOSTS_BEFORE_MS)).await;
    ensure!(world.is_ready(&room), "the simulated services do not get ready");
    let (visitors, hostile) = (mem::take(&mut plan.visitors), mem::take(&mut plan.hostile));
    let besiegers = Arc::new(plan.besiegers_doorway(&world, &hostile));
    let (ghosts, seed) = (plan.setting.company.ghosts, plan.setting.seed);
    let ghosts = company::take_numbers(&besiegers, ghosts, GHOSTS_AT_A_TIME, seed).await;
    // Very many may take a little longer.
    let begins = world.network().moment(BEGINS_MS).max(time::Instant::now());
    sleep_until(begins).await;
    let recorder = Arc::new(Recorder::new(visitors.len(), begins));
    recorder.write(|book| book.company.ghosts = ghosts);
    let mut hostile = company::send(&besiegers, &recorder, hostile);
    let way = Arc::new(plan.visitors_doorway(&world, &visitors, &recorder));
    let rules = HouseRules::new(&plan.setting);
    let ground = Arc::new(Ground { way, recorder, rules });
    let interrupted = look_on(&world, &room, &ground.recorder, &stops);
    let over = visits::run(&ground, visitors, plan.timeout, interrupted).await;
    hostile.shutdown().await;
    let run = ground.recorder.close(time::Instant::now());
    let simulation = end(world, &ground.way, begun, plan.setting.company.is_empty()).await;
    let opened = plan.opens.as_secs_f64();
    Ok(RunRecord { setting: plan.setting, over, opened, simulation: Some(simulation), ..run })
}

/// Once a second, writes down what the leader knows, until it `stops`.
async fn look_on(world: &World, room: &RoomId, recorder: &Recorder, stops: &AtomicBool) {
    let (mut progress, second) = (Progress::new(), Duration::from_secs(1));
    let mut seconds = interval_at(recorder.start(), second);
    while !stops.load(Ordering::Relaxed) {
        seconds.tick().await;
        world.restart_failed();
        let now = recorder.since_start(time::Instant::now());
        if let Some(room) = world.snapshot(room) {
            let signed = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
            let sample = RoomSample {
                at: now,
                active_users: signed(room.active),
                waiting: signed(room.figures.waiting),
                admitted_last_minute: Some(signed(room.admitted_last_minute)),
            };
            recorder.write(|book| book.sample(sample));
        }
        progress.show(|| {
            let (tally, _) = recorder.tally();
            (tally.progress(), format!("after {}: {}", human(now), tally.sentence()))
        });
    }
}

/// Stops the services, and tells what no visitor could see.
async fn end(world: World, way: &WatchedDoorway, begun: Instant, alone: bool) -> Simulation {
    let regions = way.newcomers().regions(world.deployment()).collect();
    let outcome = world.end().await;
    Simulation {
        real_seconds: begun.elapsed().as_secs_f64(),
        redis_calls: outcome.commands,
        moments: way.doorway.moments.load(Ordering::Relaxed),
        step_seconds: GRAIN_SECONDS,
        tick_seconds: TICK_SECONDS,
        // Behind hostile company, a newcomer waits for somebody, and rightly so.
        queued_while_a_slot_was_free: alone.then(|| way.newcomers().queued_while_free()),
        regions,
        broken: outcome.broken.iter().map(ToString::to_string).collect(),
    }
}

// === impl Plan ===

impl Plan {
    /// The services and the room, and what an operator does with it; nobody comes.
    fn scenario(&self) -> Scenario {
        let held = !self.opens.is_zero();
        let settings = RoomSettings { queue_all: held, ..self.room.clone() };
        let opening = Operation {
            number: 0,
            at_ms: BEGINS_MS + millis(self.opens),
            room: 0,
            what: OperationKind::Patch(json!({ "queue_all": false })),
        };
        let regions: Vec<_> = self.origins.names().map(str::to_owned).collect();
        let (admissions, controllers) = self.services;
        Scenario {
            defect: None,
            seed: Seed(self.setting.seed),
            length_ms: millis(self.timeout),
            // Whoever comes from a region finds an admission there.
            services: (admissions.max(regions.len()), controllers),
            regions,
            rooms: vec![RoomPlan { name: ROOM.to_owned(), settings: json!(settings) }],
            cast: Cast::default(),
            operations: if held { vec![opening] } else { Vec::new() },
            faults: Vec::new(),
        }
    }

    /// The way in for these visitors.
    fn visitors_doorway(
        &self,
        world: &World,
        visitors: &[VisitorPlan],
        recorder: &Arc<Recorder>,
    ) -> WatchedDoorway {
        let limits = (self.room.total_active_users, self.room.new_users_per_minute);
        let open_ms = BEGINS_MS + millis(self.opens) + SURELY_OPEN_MS;
        let names = self.origins.names().map(str::to_owned);
        let has_networks = self.setting.company.has_networks();
        let visitors_senders = if has_networks { Senders::Visitors } else { Senders::Untold };
        WatchedDoorway {
            doorway: self.doorway(world, visitors.iter(), self.setting.seed, visitors_senders),
            recorder: Arc::clone(recorder),
            newcomers: Newcomers::new(names, limits, open_ms).into(),
        }
    }

    /// The way in for hostile company.
    fn besiegers_doorway(&self, world: &World, hostile: &[HostilePlan]) -> Doorway {
        // Further clients have the numbers behind those of the first ones.
        let further = hostile.iter().flat_map(|plan| (1..plan.clients).map(move |_| plan));
        let plans = hostile.iter().chain(further).map(|plan| &plan.visitor);
        let has_networks = self.setting.company.has_networks();
        let senders = if has_networks { Senders::company(hostile) } else { Senders::Untold };
        // A seed of its own, so that company does not follow the visitors from door to door.
        self.doorway(world, plans, self.setting.seed.wrapping_add(1), senders)
    }

    fn doorway<'p>(
        &self,
        world: &World,
        plans: impl Iterator<Item = &'p VisitorPlan>,
        seed: u64,
        senders: Senders,
    ) -> Doorway {
        let mut rng = SmallRng::seed_from_u64(seed);
        let visitor = |plan: &VisitorPlan| {
            let chance = SmallRng::seed_from_u64(plan.seed).random();
            (self.origins.of_arrival(plan.arrives, &mut rng), self.habits.pick(chance))
        };
        Doorway {
            door: world.door(),
            network: world.network().clone(),
            room: ROOM,
            senders,
            visitors: plans.map(visitor).collect(),
            seed: Seed(seed),
            moments: AtomicU64::default(),
        }
    }
}
