//! The leader's tick: four times a second, every room's line is advanced, but for rooms that rest
//! (`vestibule_domain::rest`). Rooms tick concurrently, and a slow room misses only its own ticks. What a tick does is in [`super::room_ticker`].

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

/// The time between two ticks of a room, and between two looks of who does not lead.
const TICK: Duration = Duration::from_millis(250);
/// How many rooms tick at the same time.
const AT_ONCE: usize = 64;

/// What is remembered of each room.
type Tickers = BTreeMap<RoomId, Arc<Mutex<RoomTicker>>>;

/// The ticks of one term of leadership.
#[derive(Debug)]
struct Term {
    controller: Arc<Controller>,
    epoch: u64,
    tickers: Tickers,
    places: Arc<Semaphore>,
    ticks_under_way: JoinSet<()>,
}

/// Ticks for as long as this instance leads, and follows what the leader does as long as another one does.
pub(super) async fn run(controller: Arc<Controller>) {
    let mut role = controller.leadership.watch();
    // A term begins with what was seen before it, and with nothing of an earlier term.
    let mut tickers = Tickers::new();
    loop {
        let leading = role.see().leading();
        if let Some(epoch) = leading {
            let term = Term::new(Arc::clone(&controller), epoch, std::mem::take(&mut tickers));
            tokio::select! {
                biased;
                () = role.changed() => {}
                () = term.run() => {}
            }
        } else {
            tokio::select! {
                biased;
                () = role.changed() => {}
                () = follow(&controller, &mut tickers) => {}
            }
        }
    }
}

/// Sees every room as all services know it, until it is dropped.
async fn follow(controller: &Controller, tickers: &mut Tickers) {
    let mut looks = interval(TICK);
    looks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    loop {
        looks.tick().await;
        for known in take_up(controller, tickers) {
            let snapshot = known.snapshot();
            // Nobody ticks, so nobody else has it.
            if let Ok(mut ticker) = tickers.entry(snapshot.room.clone()).or_default().try_lock() {
                ticker.see(&snapshot);
            }
        }
    }
}

/// Forgets rooms that are no more, and gives those there are.
fn take_up(controller: &Controller, tickers: &mut Tickers) -> Vec<Arc<KnownRoom>> {
    let rooms = controller.feed.rooms();
    tickers.retain(|room, _| controller.feed.room(room.as_str()).is_some());
    rooms
}

// === impl Term ===

impl Term {
    fn new(controller: Arc<Controller>, epoch: u64, tickers: Tickers) -> Self {
        Self {
            controller,
            epoch,
            tickers,
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
        let mut rooms = take_up(&self.controller, &mut self.tickers);
        // Where nothing happens nobody is kept waiting.
        rooms.sort_by_key(|known| known.snapshot().rests);
        for known in rooms {
            let ticker = self.tickers.entry(known.snapshot().room.clone()).or_default();
            // A room that is still busy with its last tick misses this one.
            let Ok(ticker) = Arc::clone(ticker).try_lock_owned() else { continue };
            if ticker.rests(&known) {
                continue;
            }
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
        StoreError::RoomMissing | StoreError::Rewound => {
            controller.leadership.report_suspect(known.snapshot().room.clone());
            // Redis has gone back for all of them.
            for known in controller.feed.rooms() {
                known.wake();
            }
        }
        _ => {
            let room = &known.snapshot().room;
            tracing::debug!(%room, %error, "a tick failed");
        }
    }
    controller.metrics.ticks_failed.inc();
}
