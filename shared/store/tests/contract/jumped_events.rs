//! The server's clock jumps while a room has an event. Whatever is written then, by an operator or by the leader, the event
//! goes by the room's time: it neither begins nor ends by the jump.

use std::sync::Arc;

use tokio::time::{Duration, advance};
use vestibule_domain::{
    QueueingMethod, RoomSettings, RoomSnapshot,
    reconciliation::Finding,
    schedule::{Event, RoomConfig},
};
use vestibule_redis_model::{Dialect, Engine};
use vestibule_store::{JoinMode, PutOutcome, Store};

use crate::{
    events::{event, moment},
    model::Model,
    world::{World, limited, testimony},
};

const HOUR_MS: i64 = 3_600_000;
/// By so much the clock is set, ms.
const JUMPS_MS: [i64; 4] = [HOUR_MS, 24 * HOUR_MS, -HOUR_MS, -2 * HOUR_MS];

/// The term of the leader who brings a room back.
const LEADER: u64 = 2;

/// The event, in seconds after the start of the test.
const OPENS: u64 = 600;
const STARTS: u64 = 1_800;
const ENDS: u64 = 5_400;

/// What of the event is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Before,
    Prequeue,
    Running,
    Over,
}

/// The stages, with a second in which each is under way, and the one with which it ends.
const STAGES: [(Stage, u64, Option<u64>); 4] = [
    (Stage::Before, 60, Some(OPENS)),
    (Stage::Prequeue, 660, Some(STARTS)),
    (Stage::Running, 1_860, Some(ENDS)),
    (Stage::Over, 5_460, None),
];

/// A room by a server's own clock.
struct Night {
    server: Arc<Model>,
    world: World,
}

// === impl Stage ===

impl Stage {
    fn of(room: &RoomSnapshot) -> Self {
        let opens_ms = moment(OPENS) * 1_000;
        match &room.event {
            Some(event) if event.prequeueing => Self::Prequeue,
            Some(_) => Self::Running,
            None if room.now_ms < opens_ms => Self::Before,
            None => Self::Over,
        }
    }
}

// === impl Night ===

impl Night {
    /// So many seconds after the start of the test.
    async fn at(second: u64) -> Self {
        let server = Arc::new(Model::new(Engine::new(), Dialect::Redis7));
        let world = World::by_the_clock_of(&server);
        world.store.learn_time().await.unwrap();
        let night = Self { server, world };
        let settings = RoomSettings { queueing_method: QueueingMethod::Random, ..limited(5) };
        night.world.schedule(settings, &[sale()]).await;
        for stage in STAGES.iter().take_while(|(_, at, _)| *at <= second) {
            night.pass_to(stage.1).await;
            night.lead().await;
        }
        night
    }

    /// Waits until then; the leader looks at the room all the time.
    async fn pass_to(&self, second: u64) {
        let now_ms = self.world.snapshot().await.now_ms;
        advance(Duration::from_millis(moment(second) * 1_000 - now_ms)).await;
    }

    /// Turns the page if it is time.
    async fn lead(&self) {
        let report = self.world.try_begin(LEADER).await.unwrap();
        if report.phase_is_over {
            let (room, store) = (&self.world.room, &self.world.store);
            let config = self.world.config().await;
            let now_ms = report.counters.now_ms;
            assert!(store.switch_phase(room, LEADER, &config, now_ms).await.unwrap());
        }
    }

    async fn stage(&self) -> Stage {
        Stage::of(&self.world.snapshot().await)
    }

    /// An operator changes something else.
    async fn patch(&self) {
        let config = self.world.config().await;
        let settings = RoomSettings { total_active_users: Some(7), ..config.settings.clone() };
        let config = RoomConfig { settings, ..config };
        let put = self.world.store.put_config(&self.world.room, &config).await.unwrap();
        assert_eq!(put, PutOutcome::Changed);
    }

    /// The server loses everything, and the leader brings it back so many ms after it has last heard of the room.
    async fn wipe(&self, after_ms: u64) {
        let (seen, config) = (testimony(&self.world.snapshot().await), self.world.config().await);
        advance(Duration::from_millis(after_ms)).await;
        self.world.server.flush().await;
        let found = self.world.reconcile(&[seen], &[], &config).await;
        assert!(matches!(found, Finding::IsBehind(_)), "{found:?}");
    }

    /// It goes on as before, and ends to the millisecond.
    async fn goes_on(&self, stage: Stage, ends: Option<u64>, what: &str) {
        assert_eq!(self.stage().await, stage, "{what}");
        self.lead().await;
        assert_eq!(self.stage().await, stage, "{what}, after a look of the leader");
        let Some(ends) = ends else { return };
        let left_ms = moment(ends) * 1_000 - self.world.snapshot().await.now_ms;
        advance(Duration::from_millis(left_ms - 1)).await;
        assert_eq!(self.stage().await, stage, "{what}, a millisecond before its end");
        advance(Duration::from_millis(1)).await;
        assert_ne!(self.stage().await, stage, "{what}, at its end");
    }
}

fn sale() -> Event {
    let prequeue_start = Some(moment(OPENS));
    let (draw_id, commitment) = ("d1".to_owned(), Some("ab".to_owned()));
    Event { prequeue_start, draw: true, draw_id, commitment, ..event("sale", STARTS, ENDS) }
}

#[tokio::test(start_paused = true)]
async fn no_stage_of_an_event_ends_because_somebody_writes_after_a_jump() {
    for jump_ms in JUMPS_MS {
        for (stage, second, ends) in STAGES {
            let night = Night::at(second).await;
            night.server.is_set(jump_ms);
            night.patch().await;
            night.goes_on(stage, ends, &format!("{stage:?}, {jump_ms} ms, a patch")).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn no_stage_of_an_event_ends_because_a_room_is_brought_back_after_a_jump() {
    for jump_ms in JUMPS_MS {
        for (stage, second, ends) in STAGES {
            let night = Night::at(second).await;
            night.server.is_set(jump_ms);
            night.wipe(0).await;
            night.goes_on(stage, ends, &format!("{stage:?}, {jump_ms} ms, a wipe")).await;
        }
    }
}

/// The clock of the server that takes over differs by less than what would be taken for a jump.
#[tokio::test(start_paused = true)]
async fn who_waits_for_a_draw_waits_on_though_the_next_servers_clock_is_late() {
    let night = Night::at(660).await;
    night.world.join(20, JoinMode::Enter).await;
    night.pass_to(STARTS - 1).await;
    let is_late = async { night.server.is_set(-1_900) };
    tokio::join!(night.wipe(1_500), is_late);
    let room = night.world.snapshot().await;
    assert!(room.now_ms < moment(STARTS) * 1_000, "it has not begun yet");
    assert_eq!((room.pool_first, room.pool_last), (1, 0), "the pool is open");
    night.goes_on(Stage::Prequeue, Some(STARTS), "shortly before the start").await;
}

/// A service that has heard of no room goes by the time of the deployment.
#[tokio::test(start_paused = true)]
async fn a_room_that_is_made_after_a_jump_is_made_at_the_time_of_the_deployment() {
    for jump_ms in JUMPS_MS {
        let server = Arc::new(Model::new(Engine::new(), Dialect::Redis7));
        let world = World::by_the_clock_of(&server);
        world.store.learn_time().await.unwrap();
        advance(Duration::from_mins(11)).await;
        server.is_set(jump_ms);
        world.schedule(limited(5), &[sale()]).await;
        let night = Night { server, world };
        night.goes_on(Stage::Prequeue, Some(STARTS), "a new room").await;
    }
}

/// An operator's call reaches a controller that has just started.
#[tokio::test(start_paused = true)]
async fn who_has_just_started_patches_by_the_rooms_time() {
    for jump_ms in JUMPS_MS {
        let night = Night::at(660).await;
        night.world.store.tell_time().await.unwrap();
        night.server.is_set(jump_ms);
        night.world.store.tell_time().await.unwrap();
        let starts = Store::over(night.server.clone(), vestibule_store::Clock::Server);
        starts.learn_time().await.unwrap();
        let config = starts.read_config(&night.world.room).await.unwrap().unwrap();
        starts.put_config(&night.world.room, &config).await.unwrap();
        night.goes_on(Stage::Prequeue, Some(STARTS), &format!("{jump_ms} ms")).await;
    }
}
