//! The simulation's loop: whoever is due makes a call, and what is answered says when it is due again.
//! Between two moments nothing happens, and virtual time jumps.

mod answers;
mod calls;

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::ensure;
use futures_util::{StreamExt, stream::FuturesUnordered};
use rand::{SeedableRng, rngs::SmallRng};
use tokio::time::{interval_at, sleep_until};
use vestibule_domain::{RoomId, RoomSettings};
use vestibule_simulation::World;

use self::calls::Ask;
use super::{
    agenda::Agenda,
    regions::Origins,
    spare::Spare,
    visitor::{Habits, Step, Visitor, millis},
};
use crate::{
    crowd::{Call, Patience, VisitorPlan, duration::human, number::real64},
    progress::Progress,
    record::{Book, Ending, Over, RegionFigures, RoomSample, RunRecord, Simulation},
};

/// When the first visitor may come, ms after the services are started: they are long ready.
pub(super) const BEGINS_MS: u64 = 60_000;
/// How exact times are, in seconds.
const GRAIN_SECONDS: f64 = 0.001;
/// How often the leader looks at the room, in seconds.
const TICK_SECONDS: f64 = 0.25;

/// What a crowd is like, besides each visitor's plan.
#[derive(Debug)]
pub(super) struct Shape {
    /// How it guesses its wait when nobody tells.
    pub(super) patience: Patience,
    /// How it polls.
    pub(super) habits: Habits,
    /// Where it comes from.
    pub(super) origins: Origins,
    /// Until when the room is held.
    pub(super) opens: Duration,
    /// When to stop at the latest.
    pub(super) timeout: Duration,
    /// Seed of everything that is not in the plans.
    pub(super) seed: u64,
}

/// A crowd on its way through a room.
#[derive(Debug)]
pub(super) struct Crowd {
    world: World,
    room: Arc<str>,
    shape: Shape,
    visitors: Vec<Visitor>,
    agenda: Agenda,
    book: Book,
    spare: Spare,
    calls_made: u64,
    regions: Vec<(String, RegionFigures)>,
    queued_while_free: u64,
    /// When somebody was last in line, ms.
    waited_ms: u64,
}

// === impl Crowd ===

impl Crowd {
    /// A crowd with these plans, before the first arrival.
    pub(super) fn new(
        world: World,
        room: &str,
        settings: &RoomSettings,
        plans: &[VisitorPlan],
        shape: Shape,
    ) -> Self {
        let mut rng = SmallRng::seed_from_u64(shape.seed);
        let mut agenda = Agenda::default();
        let mut visitors = Vec::with_capacity(plans.len());
        for (id, plan) in (0_u32..).zip(plans) {
            let region = shape.origins.of_arrival(plan.arrives, &mut rng);
            visitors.push(Visitor::new(plan, shape.habits, region));
            agenda.put(BEGINS_MS + millis(plan.arrives.as_secs_f64()), id);
        }
        let regions = shape.origins.names().map(|name| (name.to_owned(), RegionFigures::default()));
        Self {
            spare: Spare::new(settings.total_active_users, settings.new_users_per_minute),
            book: Book::new(visitors.len()),
            regions: regions.collect(),
            room: room.into(),
            visitors,
            agenda,
            world,
            shape,
            calls_made: 0,
            queued_while_free: 0,
            waited_ms: 0,
        }
    }

    /// Runs until everyone's visit is over, the time is up, or it `stops`.
    ///
    /// # Errors
    /// When the services do not get ready, or the room is not there.
    #[expect(clippy::disallowed_methods, reason = "how long it takes in reality")]
    pub(super) async fn run(mut self, stops: &AtomicBool) -> anyhow::Result<RunRecord> {
        let begun = Instant::now();
        let room = RoomId::new(&*self.room)?;
        let begins = self.world.network().moment(BEGINS_MS);
        sleep_until(begins).await;
        ensure!(self.world.is_ready(&room), "the simulated services do not get ready");
        let mut progress = Progress::new();
        let mut seconds = interval_at(begins, Duration::from_secs(1));
        let mut calls = FuturesUnordered::new();
        let over = loop {
            if self.book.tally().unfinished() == 0 {
                break Over::Finished;
            }
            let next = self.agenda.next_ms().map(|ms| self.world.network().moment(ms));
            tokio::select! {
                biased;
                Some(made) = calls.next() => self.after(made),
                () = sleep_until(next.unwrap_or(begins)), if next.is_some() => {
                    while let Some(id) = self.agenda.take_due(self.world.network().now_ms()) {
                        calls.extend(self.act(id).map(|ask| ask.make(self.world.door())));
                    }
                }
                _ = seconds.tick() => {
                    self.sample(&room);
                    self.show(&mut progress);
                    if stops.load(Ordering::Relaxed) {
                        break Over::Interrupted;
                    }
                    if self.now() >= self.shape.timeout.as_secs_f64() {
                        break Over::TimedOut;
                    }
                }
            }
        };
        drop(calls);
        Ok(self.end(over, begun.elapsed()))
    }

    /// Stops the services and closes the book.
    fn end(mut self, over: Over, took: Duration) -> RunRecord {
        let now = self.now();
        for (region, (_, figures)) in self.regions.iter_mut().enumerate() {
            for process in self.world.deployment().ready_admissions_of(region) {
                let taken = process.instance.slots_taken();
                figures.own_slots += taken.own;
                figures.anywhere_slots += taken.anywhere;
                figures.lent_slots += taken.lent;
            }
        }
        let outcome = self.world.end();
        let simulation = Simulation {
            real_seconds: took.as_secs_f64(),
            redis_calls: outcome.commands,
            moments: self.agenda.made(),
            step_seconds: GRAIN_SECONDS,
            tick_seconds: TICK_SECONDS,
            queued_while_a_slot_was_free: self.queued_while_free,
            regions: self.regions.into_iter().collect(),
            broken: outcome.broken.iter().map(ToString::to_string).collect(),
        };
        RunRecord { simulation: Some(simulation), over, ..self.book.close(now) }
    }

    /// Seconds of virtual time since the first visitor may come.
    fn now(&self) -> f64 {
        self.seconds(self.world.network().now_ms())
    }

    #[expect(clippy::unused_self, reason = "only a crowd has such a time")]
    fn seconds(&self, ms: u64) -> f64 {
        real64(ms.saturating_sub(BEGINS_MS)) / 1000.0
    }

    /// Does what somebody is due to do. A call is returned.
    fn act(&mut self, id: u32) -> Option<Ask> {
        match self.visitors[id as usize].next {
            Step::Call(call) => return Some(self.ask(id, call)),
            Step::Close => self.finish(id, Ending::Abandoned),
            Step::RunOut => {
                self.spare.leave(self.world.network().now_ms());
                self.finish(id, Ending::RanOut);
            }
        }
        None
    }

    fn put(&mut self, id: u32, next: Step, after_ms: u64) {
        self.visitors[id as usize].next = next;
        self.agenda.put(self.world.network().now_ms() + after_ms, id);
    }

    fn call_again(&mut self, id: u32, call: Call, after_ms: u64) {
        self.put(id, Step::Call(call), after_ms);
    }

    fn finish(&mut self, id: u32, ending: Ending) {
        self.visitors[id as usize].carried = None;
        self.book.end(id, self.now(), ending);
    }

    /// Once a second, what the leader knows.
    fn sample(&mut self, room: &RoomId) {
        self.world.restart_failed();
        let Some(room) = self.world.snapshot(room) else { return };
        let signed = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        self.book.sample(RoomSample {
            at: self.now(),
            active_users: signed(room.active),
            waiting: signed(room.figures.waiting),
            admitted_last_minute: Some(signed(room.admitted_last_minute)),
        });
    }

    fn show(&self, progress: &mut Progress) {
        let (now, tally) = (self.now(), self.book.tally());
        progress.show(|| (tally.progress(), format!("after {}: {}", human(now), tally.sentence())));
    }
}
