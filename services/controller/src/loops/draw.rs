//! Drawing: once the pre-queue of an event is over, the controller that serves the room draws the places of everyone
//! in it, and publishes the record that proves it. If the event names a public beacon, it first waits for the
//! beacon's round, for up to [`BEACON_PATIENCE_SECONDS`].

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use tokio::{task::JoinSet, time::sleep};
use vestibule_domain::{
    Draw, RoomId, RoomSnapshot,
    draw::{BeaconOutcome, DrawRecord, Pool, Seed, mix},
    roll::Chunks,
    schedule::{Event, EventState, RoomConfig},
};
use vestibule_store::{KnownRoom, StoreError};

use super::suspects::report_suspect;
use crate::{beacon::BeaconReply, leadership::Term, state::Controller};

/// How often it is looked for a pre-queue that is over.
const CHECK_EVERY: Duration = Duration::from_millis(100);
/// How long after the start it waits for the beacon, in seconds. After that the committed seed
/// alone decides.
pub(crate) const BEACON_PATIENCE_SECONDS: u64 = 30;
/// How often the beacon is asked meanwhile.
const ASK_EVERY: Duration = Duration::from_secs(1);
/// How soon it is tried again when the seed is not known: with another secret, or without the event's draw.
const NO_SEED_AGAIN: Duration = Duration::from_secs(10);

/// Draws for as long as this instance serves rooms.
pub(super) async fn run(controller: Arc<Controller>) {
    let mut role = controller.leadership.watch();
    loop {
        let serving = role.see().serving();
        if let Some(term) = serving {
            tokio::select! {
                biased;
                () = role.changed() => {}
                () = draw_in(&controller, term) => {}
            }
        } else {
            role.changed().await;
        }
    }
}

/// Checks every room of its share until it is dropped. Each draw is a task, so a room that waits for its beacon
/// delays no other.
async fn draw_in(controller: &Arc<Controller>, Term { epoch, share, .. }: Term) {
    let mut drawing: JoinSet<RoomId> = JoinSet::new();
    let mut busy: BTreeSet<RoomId> = BTreeSet::new();
    loop {
        while let Some(Ok(room)) = drawing.try_join_next() {
            busy.remove(&room);
        }
        for known in controller.feed.rooms() {
            let snapshot = known.snapshot();
            let is_due = share.has(&snapshot.room) && needs_draw(&known, &snapshot);
            if is_due && busy.insert(snapshot.room.clone()) {
                let controller = Arc::clone(controller);
                drawing.spawn(async move {
                    if let Err(error) = draw(&controller, epoch, &known).await {
                        report(&controller, epoch, &snapshot.room, &error).await;
                    }
                    snapshot.room.clone()
                });
            }
        }
        sleep(CHECK_EVERY).await;
    }
}

/// Whether a pre-queue is over and not drawn yet. An event that has begun with an empty pre-queue counts
/// too.
fn needs_draw(known: &KnownRoom, room: &RoomSnapshot) -> bool {
    if room.pool_first > 0 {
        return room.pool_last > 0;
    }
    let begun = room.event.as_ref().filter(|event| event.draw && !event.prequeueing);
    let Some((event, stored)) = begun.zip(known.stored_config()) else { return false };
    let event = stored.config.event(event.name.as_str());
    event.is_some_and(|event| !stored.draws.contains_key(&event.draw_id))
}

async fn draw(controller: &Controller, epoch: u64, known: &KnownRoom) -> Result<(), StoreError> {
    let room = known.snapshot().room.clone();
    controller.feed.refresh_config(known).await?;
    let Some(stored) = known.stored_config() else { return Ok(()) };
    // Read from Redis, because the pushed snapshot may be late.
    let Some(snapshot) = controller.store.read_snapshot(&room).await? else { return Ok(()) };
    let report = controller.store.begin_tick(&room, &Chunks::default(), epoch).await?;
    let pool = pool_to_draw(&report.pool, &snapshot, &stored.config);
    if pool.draw_id.is_empty() {
        // Nobody waits for a draw, and the event is no longer in force; or some do, and nobody knows of which event: it
        // was withdrawn.
        if !pool.is_empty() {
            release_pool(controller, epoch, &snapshot, &pool).await?;
        }
        return Ok(());
    }
    let event = stored.config.events.iter().find(|event| event.draw_id == pool.draw_id);
    let state = |event| stored.config.state_of(event, report.counters.now_ms);
    match event.filter(|event| event.draw).map(|event| (event, state(event))) {
        Some((event, EventState::Running | EventState::Over)) => {
            draw_pool(controller, epoch, &snapshot, event, &pool).await?;
        }
        // The event was suspended in its pre-queue and may go on later, so its seed stays secret.
        Some(_) => release_pool(controller, epoch, &snapshot, &pool).await?,
        None => cancel(controller, epoch, &snapshot, &pool).await?,
    }
    controller.feed.refresh_config(known).await
}

/// The pool that waits for its draw; an empty one if the event's pre-queue had no visitors.
fn pool_to_draw(pool: &Pool, room: &RoomSnapshot, config: &RoomConfig) -> Pool {
    if !pool.is_empty() {
        return pool.clone();
    }
    let event = room.event.as_ref().and_then(|event| config.event(event.name.as_str()));
    let draw_id = event.map(|event| event.draw_id.clone()).unwrap_or_default();
    Pool { first: 0, last: 0, draw_id }
}

async fn draw_pool(
    controller: &Controller,
    epoch: u64,
    room: &RoomSnapshot,
    event: &Event,
    pool: &Pool,
) -> Result<(), StoreError> {
    let Some(promise) = DrawRecord::before_draw(&room.room, event, EventState::Running) else {
        return Ok(());
    };
    let Some(committed) = controller.secret.promised_seed(&room.room, event) else {
        tracing::warn!(
            room = %room.room, event = %event.name,
            "a draw cannot take place: it was announced under a secret that this controller does not have"
        );
        sleep(NO_SEED_AGAIN).await;
        return Ok(());
    };
    let outcome = ask_beacon(controller, event, room, &committed).await?;
    let seed = outcome.as_ref().map_or(committed, |(_, mixed)| mixed.unwrap_or(committed));
    let first = if pool.is_empty() { room.queue_counter + 1 } else { pool.first };
    let draw = Draw::new(first, pool.count(), seed);
    let now_s = controller.store.now_ms_in(&room.room).await? / 1000;
    let outcome = outcome.map(|(outcome, _)| outcome);
    let record = DrawRecord {
        left_out: pool.among(&room.left_out),
        reset_epoch: Some(room.reset_epoch),
        ..promise.drawn(&draw, &committed, outcome, now_s)
    };
    let draws: Vec<Draw> = room.draws.iter().cloned().chain([draw]).collect();
    let added = (!pool.is_empty()).then_some(draws.as_slice());
    if controller.store.draw(&room.room, epoch, pool, added, Some(&record)).await? {
        let participants = pool.count();
        tracing::info!(room = %room.room, event = %record.event, participants, "drawn");
    }
    Ok(())
}

/// Cancels the draw of an event that was withdrawn: those who waited stand in order of arrival.
async fn cancel(
    controller: &Controller,
    epoch: u64,
    room: &RoomSnapshot,
    pool: &Pool,
) -> Result<(), StoreError> {
    let seed = controller.secret.new_draw_seed(&room.room, &pool.draw_id);
    let record = DrawRecord {
        reset_epoch: Some(room.reset_epoch),
        ..DrawRecord::cancelled(&room.room, &seed)
    };
    if controller.store.draw(&room.room, epoch, pool, None, Some(&record)).await? {
        tracing::warn!(room = %room.room, draw_id = %pool.draw_id, "a draw was cancelled");
    }
    Ok(())
}

/// Releases those who waited for a draw that does not take place now: they stand in order of arrival.
async fn release_pool(
    controller: &Controller,
    epoch: u64,
    room: &RoomSnapshot,
    pool: &Pool,
) -> Result<(), StoreError> {
    if controller.store.draw(&room.room, epoch, pool, None, None).await? {
        tracing::info!(room = %room.room, "a pre-queue was released without a draw");
    }
    Ok(())
}

type BeaconResult = (BeaconOutcome, Option<Seed>);

/// The beacon's outcome and the seed mixed from it; `None` if the event names no beacon.
async fn ask_beacon(
    controller: &Controller,
    event: &Event,
    room: &RoomSnapshot,
    committed: &Seed,
) -> Result<Option<BeaconResult>, StoreError> {
    let Some(beacon) = &event.beacon else { return Ok(None) };
    loop {
        match controller.beacons.ask(beacon).await {
            BeaconReply::Verified(round) => {
                let mixed = mix(committed, &round.randomness);
                return Ok(Some((round.outcome(), Some(mixed))));
            }
            BeaconReply::NotYet => {}
            BeaconReply::Wrong(reason) => {
                tracing::warn!(room = %room.room, %reason, "the beacon gave no round");
            }
        }
        let now_s = controller.store.now_ms_in(&room.room).await? / 1000;
        if now_s >= event.start + BEACON_PATIENCE_SECONDS {
            return Ok(Some((BeaconOutcome::Unanswered, None)));
        }
        sleep(ASK_EVERY).await;
    }
}

async fn report(controller: &Controller, epoch: u64, room: &RoomId, error: &StoreError) {
    match error {
        StoreError::Fenced { epoch: by } => controller.leadership.overtaken(epoch, *by),
        StoreError::RoomMissing | StoreError::Rewound => {
            report_suspect(controller, room, error).await;
        }
        error => tracing::warn!(%room, %error, "a draw failed; it is tried again"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use vestibule_domain::network_limits::NetworkLimits;
    use vestibule_store::{Join, JoinMode, ManualClock};

    use super::*;
    use crate::parted::{Parted, START_MS};

    #[tokio::test(start_paused = true)]
    async fn who_waits_for_a_draw_of_which_nothing_is_known_is_let_go() {
        let (parted, controller) = Parted::with_controller(&ManualClock::at(START_MS));
        let (store, room) = (&controller.store, "a-sale".parse().unwrap());
        let now_s = START_MS / 1000;
        let event = json!({
            "name": "drop", "prequeue_start_time": now_s - 60, "event_start_time": now_s + 300,
            "event_end_time": now_s + 600, "draw_at_event_start": true, "draw_id": "d",
        });
        let events = vec![serde_json::from_value(event).unwrap()];
        let config = RoomConfig { events, ..RoomConfig::default() };
        store.create_room(&room, &config).await.unwrap();
        let join = Join {
            call: "c",
            again: false,
            region: "eu",
            count: 3,
            mode: JoinMode::Queue,
            key_id: "k",
            issuer: "i",
            networks: &[],
            limits: NetworkLimits::default(),
            max_session_seconds: None,
        };
        store.join(&room, &join).await.unwrap();
        let stored = store.read_config(&room).await.unwrap().unwrap();
        store.put_config(&room, &RoomConfig { events: Vec::new(), ..stored }).await.unwrap();
        parted.lose_field("vestibule:room:{a-sale}:line", "pool_id");
        controller.feed.refresh().await.unwrap();
        let known = controller.feed.room("a-sale").unwrap();
        assert!(needs_draw(&known, &known.snapshot()), "three wait");
        draw(&controller, 1, &known).await.unwrap();
        let released = store.read_snapshot(&room).await.unwrap().unwrap();
        assert!(!released.is_held());
        assert_eq!(released.position(3), Some(3), "in order of arrival");
    }
}
