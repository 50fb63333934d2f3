//! The leader's tick: four times a second, every room's line is advanced. Rooms tick concurrently, and a
//! slow room misses only its own ticks. What a tick does is in [`super::room_ticker`].

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use tokio::{
    sync::{Mutex, OwnedMutexGuard, Semaphore},
    task::JoinSet,
    time::{Instant, MissedTickBehavior, interval},
};
use vestibule_domain::RoomId;
use vestibule_store::{KnownRoom, StoreError};

use super::room_ticker::RoomTicker;
use crate::state::Controller;

/// The time between two ticks of a room.
const TICK: Duration = Duration::from_millis(250);
/// How many rooms tick at the same time.
const AT_ONCE: usize = 64;

/// The ticks of one term of leadership.
#[derive(Debug)]
struct Term {
    controller: Arc<Controller>,
    epoch: u64,
    tickers: BTreeMap<RoomId, Arc<Mutex<RoomTicker>>>,
    places: Arc<Semaphore>,
    ticks_under_way: JoinSet<()>,
}

/// Ticks for as long as this instance leads.
pub(super) async fn run(controller: Arc<Controller>) {
    let mut role = controller.leadership.watch();
    loop {
        let leading = role.see().leading();
        if let Some(epoch) = leading {
            let term = Term::new(Arc::clone(&controller), epoch);
            tokio::select! {
                biased;
                () = role.changed() => {}
                () = term.run() => {}
            }
        } else {
            role.changed().await;
        }
    }
}

// === impl Term ===

impl Term {
    fn new(controller: Arc<Controller>, epoch: u64) -> Self {
        Self {
            controller,
            epoch,
            tickers: BTreeMap::new(),
            places: Arc::new(Semaphore::new(AT_ONCE)),
            ticks_under_way: JoinSet::new(),
        }
    }

    /// Ticks until it is dropped. Ticks under way are dropped with it.
    async fn run(mut self) {
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        loop {
            ticks.tick().await;
            while self.ticks_under_way.try_join_next().is_some() {}
            self.start_ticks();
        }
    }

    fn start_ticks(&mut self) {
        let rooms = self.controller.feed.rooms();
        self.tickers.retain(|room, _| self.controller.feed.room(room.as_str()).is_some());
        for known in rooms {
            let ticker = self.tickers.entry(known.snapshot().room.clone()).or_default();
            // A room that is still busy with its last tick misses this one.
            let Ok(ticker) = Arc::clone(ticker).try_lock_owned() else { continue };
            let (controller, places) = (Arc::clone(&self.controller), Arc::clone(&self.places));
            let epoch = self.epoch;
            self.ticks_under_way.spawn(async move {
                let _place = places.acquire_owned().await;
                tick(&controller, epoch, &known, ticker).await;
            });
        }
    }
}

async fn tick(
    controller: &Controller,
    epoch: u64,
    known: &KnownRoom,
    mut ticker: OwnedMutexGuard<RoomTicker>,
) {
    let start = Instant::now();
    let done = ticker.tick(controller, epoch, known).await;
    controller.metrics.tick_duration.observe(start.elapsed().as_secs_f64());
    let Err(error) = done else { return };
    match &error {
        StoreError::Fenced { epoch: by } => controller.leadership.overtaken(epoch, *by),
        StoreError::RoomMissing => controller.leadership.report_missing(),
        _ => {
            let room = &known.snapshot().room;
            tracing::debug!(%room, %error, "a tick failed");
        }
    }
    controller.metrics.ticks_failed.inc();
}
