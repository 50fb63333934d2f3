//! The leader's tick: a few times a second, every room is looked at and advanced. Rooms tick beside
//! each other; one that is slow misses its own beats only. What a beat does is in [`super::pulse`].

use std::{collections::HashMap, sync::Arc, time::Duration};

use tokio::{
    sync::{Mutex, OwnedMutexGuard, Semaphore},
    task::JoinSet,
    time::{Instant, MissedTickBehavior, interval},
};
use vestibule_domain::RoomId;
use vestibule_store::{KnownRoom, StoreError};

use super::pulse::Pulse;
use crate::state::Controller;

/// How often a room is looked at.
const TICK: Duration = Duration::from_millis(250);
/// Rooms that are looked at at the same time.
const AT_ONCE: usize = 64;

/// One term of ticking.
#[derive(Debug)]
struct Term {
    controller: Arc<Controller>,
    epoch: u64,
    pulses: HashMap<RoomId, Arc<Mutex<Pulse>>>,
    places: Arc<Semaphore>,
    beats: JoinSet<()>,
}

/// Ticks for as long as this instance leads.
pub(super) async fn run(controller: Arc<Controller>) {
    let mut role = controller.leadership.watch();
    loop {
        let leading = role.borrow_and_update().leading();
        if let Some(epoch) = leading {
            let term = Term::new(Arc::clone(&controller), epoch);
            tokio::select! {
                _ = role.changed() => {}
                () = term.run() => {}
            }
        } else if role.changed().await.is_err() {
            return;
        }
    }
}

// === impl Term ===

impl Term {
    fn new(controller: Arc<Controller>, epoch: u64) -> Self {
        Self {
            controller,
            epoch,
            pulses: HashMap::new(),
            places: Arc::new(Semaphore::new(AT_ONCE)),
            beats: JoinSet::new(),
        }
    }

    /// Ticks until it is dropped, with all beats under way.
    async fn run(mut self) {
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        loop {
            ticks.tick().await;
            while self.beats.try_join_next().is_some() {}
            self.start_beats();
        }
    }

    fn start_beats(&mut self) {
        let rooms = self.controller.feed.rooms();
        self.pulses.retain(|room, _| self.controller.feed.room(room.as_str()).is_some());
        for known in rooms {
            let pulse = self.pulses.entry(known.snapshot().room.clone()).or_default();
            // Still busy with an earlier beat: it misses this one.
            let Ok(pulse) = Arc::clone(pulse).try_lock_owned() else { continue };
            let (controller, places) = (Arc::clone(&self.controller), Arc::clone(&self.places));
            let epoch = self.epoch;
            self.beats.spawn(async move {
                let _place = places.acquire_owned().await;
                beat(&controller, epoch, &known, pulse).await;
            });
        }
    }
}

async fn beat(
    controller: &Controller,
    epoch: u64,
    known: &KnownRoom,
    mut pulse: OwnedMutexGuard<Pulse>,
) {
    let start = Instant::now();
    let done = pulse.beat(controller, epoch, known).await;
    controller.metrics.tick_duration.observe(start.elapsed().as_secs_f64());
    let Err(error) = done else { return };
    match &error {
        StoreError::Fenced(by) => controller.leadership.overtaken(epoch, by),
        StoreError::RoomMissing => controller.leadership.report_missing(),
        _ => {
            let room = &known.snapshot().room;
            tracing::debug!(%room, %error, "a tick failed");
        }
    }
    controller.metrics.ticks_failed.inc();
}
