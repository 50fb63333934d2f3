//! The tick: four times a second, the line of every room of this instance's share is advanced, but for rooms that rest
//! (`vestibule_domain::rest`). Rooms tick concurrently, and a slow room misses only its own ticks. What a tick does is
//! in [`super::room_ticker`].

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use tokio::{
    sync::{OwnedMutexGuard, Semaphore},
    task::JoinSet,
    time::{Instant, Interval, MissedTickBehavior, interval},
};
use vestibule_domain::RoomId;
use vestibule_store::{KnownRoom, StoreError};
use vestibule_traces::{KeyValue, SpanBuilder, note, spanned};

use super::{foreign, room_ticker::RoomTicker, suspects::report_suspect, tickers::Tickers};
use crate::state::Controller;

/// The time between two ticks of a room, and between two looks at one that another instance serves.
const TICK: Duration = Duration::from_millis(250);
/// How many rooms of one shard tick at the same time.
const AT_ONCE: usize = 64;

/// The ticks of one term.
#[derive(Debug)]
struct Serving<'a> {
    controller: &'a Arc<Controller>,
    epoch: u64,
    tickers: &'a mut Tickers,
    /// Of each shard, because the rooms of one that is away hold theirs until their calls have failed.
    places: BTreeMap<String, Arc<Semaphore>>,
    ticks_under_way: JoinSet<()>,
}

/// Ticks the rooms that this instance serves, and follows what others do with theirs.
pub(super) async fn run(controller: Arc<Controller>) {
    let mut role = controller.leadership.watch();
    let mut tickers = Tickers::default();
    loop {
        let serving = role.see().serving();
        tickers.begin(serving);
        if let Some(term) = serving {
            let serving = Serving::new(&controller, term.epoch, &mut tickers);
            tokio::select! {
                biased;
                () = role.changed() => {}
                () = serving.run() => {}
            }
            controller.metrics.rooms_served.set(0);
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
    let mut looks = every_tick();
    loop {
        looks.tick().await;
        let (_, others) = tickers.take_up(&controller.feed);
        for known in others {
            tickers.follow(&known);
        }
    }
}

fn every_tick() -> Interval {
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    ticks
}

// === impl Serving ===

impl<'a> Serving<'a> {
    fn new(controller: &'a Arc<Controller>, epoch: u64, tickers: &'a mut Tickers) -> Self {
        Self {
            controller,
            epoch,
            tickers,
            places: BTreeMap::new(),
            ticks_under_way: JoinSet::new(),
        }
    }

    /// Ticks until it is dropped. Ticks under way are dropped with it.
    async fn run(mut self) {
        let mut ticks = every_tick();
        loop {
            ticks.tick().await;
            while self.ticks_under_way.try_join_next().is_some() {}
            let (mut own, others) = self.tickers.take_up(&self.controller.feed);
            for known in others {
                self.tickers.follow(&known);
            }
            self.controller.metrics.rooms_served.set(i64::try_from(own.len()).unwrap_or(i64::MAX));
            // Where nothing happens nobody is kept waiting.
            own.sort_by_key(|known| known.snapshot().rests);
            for known in own {
                self.start_tick(known);
            }
        }
    }

    fn start_tick(&mut self, known: Arc<KnownRoom>) {
        // A room that is still busy with its last tick misses this one.
        let Some(ticker) = self.tickers.of(&known.snapshot().room) else { return };
        if ticker.rests(&known) {
            return;
        }
        let (controller, places) = (Arc::clone(self.controller), self.places_of(&known));
        let epoch = self.epoch;
        self.ticks_under_way.spawn(async move {
            let _place = places.acquire_owned().await;
            tick(&controller, epoch, &known, ticker).await;
        });
    }

    fn places_of(&mut self, known: &KnownRoom) -> Arc<Semaphore> {
        let shard = self.controller.store.shard_of(&known.snapshot().room);
        let places = self.places.entry(shard);
        Arc::clone(places.or_insert_with(|| Arc::new(Semaphore::new(AT_ONCE))))
    }
}

async fn tick(
    controller: &Controller,
    epoch: u64,
    known: &KnownRoom,
    mut ticker: OwnedMutexGuard<RoomTicker>,
) {
    let start = Instant::now();
    let span = controller.traces.begin(None, || describe(&known.snapshot().room, epoch));
    let work = async {
        let done = ticker.tick(controller, epoch, known).await;
        if let Err(error) = &done {
            note(|span| span.fail(error.kind()));
        }
        done
    };
    let done = spanned(span, work).await;
    controller.metrics.tick_duration.observe(start.elapsed().as_secs_f64());
    let Err(error) = done else { return };
    match &error {
        StoreError::Fenced { epoch: by } => controller.leadership.overtaken(epoch, *by),
        StoreError::RoomMissing | StoreError::Rewound => {
            // Redis has gone back for all of them.
            for known in controller.feed.rooms() {
                known.wake();
            }
            report_suspect(controller, &known.snapshot().room, &error).await;
        }
        StoreError::Unexpected(why) => {
            foreign::remove(controller, &known.snapshot().room, why).await;
        }
        _ => {
            let room = &known.snapshot().room;
            tracing::debug!(%room, %error, "a tick failed");
        }
    }
    controller.metrics.ticks_failed.inc();
}

/// The span of a tick: a trace of its own.
fn describe(room: &RoomId, epoch: u64) -> SpanBuilder {
    SpanBuilder::from_name("tick").with_attributes([
        KeyValue::new("vestibule.room", room.to_string()),
        KeyValue::new("vestibule.epoch", i64::try_from(epoch).unwrap_or(i64::MAX)),
    ])
}

#[cfg(test)]
mod tests {
    use tokio::time::timeout;
    use vestibule_domain::{Share, schedule::RoomConfig};
    use vestibule_store::ManualClock;

    use super::*;
    use crate::{
        leadership::Term,
        parted::{Parted, START_MS},
    };

    #[tokio::test(start_paused = true)]
    async fn many_rooms_of_a_shard_that_is_away_keep_none_of_another_from_ticking() {
        let (parted, controller) = Parted::with_controller(&ManualClock::at(START_MS));
        let rooms = |shard: &'static str, count: usize| {
            (0..count).map(move |nth| format!("{shard}-{nth}").parse().unwrap())
        };
        // However they are taken up, some of the others come after many of those that are away.
        for room in rooms("a", 4 * AT_ONCE).chain(rooms("b", AT_ONCE)) {
            controller.store.create_room(&room, &RoomConfig::default()).await.unwrap();
        }
        controller.feed.refresh().await.unwrap();
        parted.take_away(&["a-"]);
        // Their ticks fail at once, those of the shard that is away after a second.
        for room in rooms("b", AT_ONCE) {
            controller.store.delete_room(&room, None).await.unwrap();
        }
        let mut tickers = Tickers::default();
        tickers.begin(Some(Term { epoch: 1, before: None, share: Share::ALL }));
        let serving = Serving::new(&controller, 1, &mut tickers);
        timeout(TICK / 2, serving.run()).await.unwrap_err();
        assert_eq!(parted.calls_in_vain() as usize, AT_ONCE);
        assert_eq!(controller.metrics.ticks_failed.get(), AT_ONCE as u64, "of the other shard");
    }
}
