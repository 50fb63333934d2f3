//! The simulation's loop: time moves in small steps, and in each everyone due does what a browser
//! would do. Nothing sleeps. The order within a step is the strictest one: who leaves in it frees a
//! seat for the next step at the earliest.

mod door;
mod line;

use std::{collections::BTreeSet, time::Duration};

use rand::{SeedableRng, rngs::SmallRng};
use rustc_hash::FxHashMap;
use tokio::time::Instant;
use vestibule_domain::{Lease, RoomSettings};

use super::{
    agenda::Agenda,
    book::{Book, RegionFigures, Simulation},
    meter::Meter,
    regions::Origins,
    spare::Spare,
    visitor::{Habits, State, Visitor, millis, steps},
    world::World,
};
use crate::{
    answer::Call,
    crowd::Over,
    house::HouseRules,
    number::real64,
    plan::VisitorPlan,
    record::{Ending, RoomSample, RunRecord},
};

/// How far time moves at once, ms: as often as the door looks for a free seat.
pub(super) const STEP_MS: u64 = 50;
/// Check-ins travel together every so many steps, as they do from an admission service.
const GATHER_STEPS: u64 = 2;

/// The step of somebody who has no appointment.
const NEVER: u32 = u32::MAX;

/// What a crowd is like, besides each visitor's plan.
#[derive(Debug)]
pub(super) struct Shape {
    /// How it guesses its wait when nobody tells.
    pub(super) rules: HouseRules,
    /// How it polls.
    pub(super) habits: Habits,
    /// Where it comes from.
    pub(super) origins: Origins,
    /// Until when the room is held.
    pub(super) opens: Duration,
    /// How often the leader looks at the room.
    pub(super) tick: Duration,
    /// When to stop at the latest.
    pub(super) timeout: Duration,
    /// Seed of everything that is not in the plans.
    pub(super) seed: u64,
}

/// A crowd on its way through a room.
#[derive(Debug)]
pub(super) struct Crowd {
    world: World,
    shape: Shape,
    visitors: Vec<Visitor>,
    agenda: Agenda,
    book: Book,
    spare: Spare,
    /// Those at the door, by rank.
    door: BTreeSet<(u64, u32)>,
    /// Check-ins that have not travelled yet.
    leases: FxHashMap<Lease, i64>,
    rng: SmallRng,
    step: u64,
    regions: Vec<(String, RegionFigures)>,
    queued_while_free: u64,
    begun: Instant,
}

/// What is due in a step.
#[derive(Debug, Default)]
struct Due {
    newcomers: Vec<Vec<u32>>,
    leaving: Vec<u32>,
}

// === impl Crowd ===

impl Crowd {
    /// A crowd with these plans, before the first arrival.
    pub(super) fn new(
        world: World,
        settings: &RoomSettings,
        plans: &[VisitorPlan],
        shape: Shape,
    ) -> Self {
        let mut rng = SmallRng::seed_from_u64(shape.seed);
        let mut agenda = Agenda::default();
        let mut visitors = Vec::with_capacity(plans.len());
        for (id, plan) in (0_u32..).zip(plans) {
            let region = shape.origins.of_arrival(plan.arrives, &mut rng);
            let mut visitor = Visitor::new(plan, shape.habits, region);
            let due = steps(millis(plan.arrives.as_secs_f64()), STEP_MS);
            visitor.due = u32::try_from(due).unwrap_or(u32::MAX);
            visitors.push(visitor);
            agenda.put(due, id);
        }
        let regions = shape.origins.names().map(|name| (name.to_owned(), RegionFigures::default()));
        let limit = |limit: Option<u64>| limit.and_then(|limit| u32::try_from(limit).ok());
        Self {
            spare: Spare::new(
                limit(settings.total_active_users),
                limit(settings.new_users_per_minute),
            ),
            book: Book::new(visitors.len()),
            regions: regions.collect(),
            visitors,
            agenda,
            world,
            shape,
            door: BTreeSet::new(),
            leases: FxHashMap::default(),
            rng,
            step: 0,
            queued_while_free: 0,
            begun: Instant::now(),
        }
    }

    /// Runs until everyone's visit is over, or the time is up.
    pub(super) async fn run(&mut self) -> anyhow::Result<Over> {
        let mut meter = Meter::new();
        while self.book.unfinished() > 0 {
            if self.world.elapsed_ms() >= millis(self.shape.timeout.as_secs_f64()) {
                return Ok(Over::TimedOut);
            }
            self.one_step().await?;
            meter.show(self.now(), &self.book);
        }
        Ok(Over::Finished)
    }

    /// Deletes the room and closes the book.
    pub(super) async fn end(mut self) -> anyhow::Result<(RunRecord, Simulation)> {
        self.world.delete().await?;
        let simulation = Simulation {
            real_seconds: self.begun.elapsed().as_secs_f64(),
            redis_calls: self.world.calls(),
            moments: self.agenda.made(),
            step_seconds: real64(STEP_MS) / 1000.0,
            tick_seconds: self.shape.tick.as_secs_f64(),
            queued_while_a_slot_was_free: self.queued_while_free,
            regions: self.regions.iter().cloned().collect(),
        };
        let now = self.now();
        Ok((self.book.close(now, self.shape.opens.as_secs_f64()), simulation))
    }

    /// Seconds of virtual time.
    fn now(&self) -> f64 {
        real64(self.world.elapsed_ms()) / 1000.0
    }

    async fn one_step(&mut self) -> anyhow::Result<()> {
        if self.opens_now() {
            self.world.open().await?;
        }
        let due = self.take_due();
        self.join(&due.newcomers).await?;
        self.claim().await?;
        self.leave(&due.leaving).await?;
        if self.step.is_multiple_of(GATHER_STEPS) {
            self.send_check_ins().await?;
        }
        if self.step.is_multiple_of(steps(millis(self.shape.tick.as_secs_f64()), STEP_MS)) {
            self.world.tick().await?;
            self.sample();
        }
        self.step += 1;
        self.world.pass_ms(STEP_MS);
        Ok(())
    }

    fn opens_now(&self) -> bool {
        let opens = steps(millis(self.shape.opens.as_secs_f64()), STEP_MS);
        opens > 0 && self.step == opens
    }

    /// Lets everyone due check in, or close the tab; who comes and who leaves is returned.
    fn take_due(&mut self) -> Due {
        let mut due = Due { newcomers: vec![Vec::new(); self.regions.len()], leaving: Vec::new() };
        let ids = self.agenda.next();
        for &id in &ids {
            let visitor = &mut self.visitors[id as usize];
            if u64::from(visitor.due) != self.step {
                continue;
            }
            // Two appointments may fall into one step; only one of them counts.
            visitor.due = NEVER;
            match visitor.state {
                State::Away => due.newcomers[usize::from(visitor.region)].push(id),
                State::Waiting => self.poll(id, Call::Status),
                State::AtDoor => self.poll(id, Call::Claim),
                State::Closing => self.finish(id, Ending::Abandoned),
                State::Inside => due.leaving.push(id),
                State::Staying => {
                    self.spare.leave();
                    self.finish(id, Ending::RanOut);
                }
                State::Gone => {}
            }
        }
        self.agenda.give_back(ids);
        due
    }

    fn put(&mut self, id: u32, after_ms: u64) {
        let step = self.step + steps(after_ms, STEP_MS).max(1);
        self.visitors[id as usize].due = u32::try_from(step).unwrap_or(u32::MAX);
        self.agenda.put(step, id);
    }

    fn finish(&mut self, id: u32, ending: Ending) {
        let visitor = &mut self.visitors[id as usize];
        visitor.state = State::Gone;
        self.door.remove(&(visitor.rank, id));
        self.book.end(id, self.now(), ending);
    }

    async fn send_check_ins(&mut self) -> anyhow::Result<()> {
        if self.leases.is_empty() {
            return Ok(());
        }
        let differences = self.leases.drain().filter(|(_, difference)| *difference != 0);
        self.world.check_in(differences).await
    }

    /// Once a second, what the leader knows.
    fn sample(&mut self) {
        let at = self.now();
        if self.world.elapsed_ms().is_multiple_of(1000) {
            let signed = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
            let room = self.world.snapshot();
            self.book.sample(RoomSample {
                at,
                active_users: signed(room.active),
                waiting: signed(room.figures.waiting),
                admitted_last_minute: Some(signed(room.admitted_last_minute)),
            });
        }
    }
}
