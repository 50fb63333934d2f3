//! Whoever was silent announces itself before it changes anything: else nobody would ask it what it has seen.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use redis::{Cmd, RedisError, RedisFuture, Value};
use tokio::time::{Duration, Instant, advance};
use vestibule_domain::{Announcement, RoomId, schedule::RoomConfig};
use vestibule_redis_model::{Dialect, Engine, wire};
use vestibule_store::{Clock, Link, Messages, Round, Store, StoreError};

use crate::{model::Model, world::START_MS};

/// A server, two services there that have announced nothing, and a room.
async fn two_services() -> (Arc<Model>, [Store; 2], RoomId) {
    let server = Arc::new(Model::new(Engine::new(), Dialect::Redis7));
    let services = [(); 2].map(|()| Store::over(server.clone(), Clock::Server));
    let room = RoomId::new("sale").unwrap();
    services[1].put_config(&room, &RoomConfig::default()).await.unwrap();
    (server, services, room)
}

#[tokio::test(start_paused = true)]
async fn who_was_silent_announces_itself_before_it_changes_anything() {
    let (_, [silent, other], room) = two_services().await;
    silent.announce("silent", Announcement::OURS).await.unwrap();
    advance(Duration::from_secs(10)).await;
    let seen = async || {
        let running = other.announce("other", Announcement::OURS).await.unwrap();
        running.seen["silent"] - START_MS
    };
    silent.read_snapshot(&room).await.unwrap();
    assert_eq!(seen().await, 0, "it has only looked");
    silent.put_config(&room, &RoomConfig::default()).await.unwrap();
    assert_eq!(seen().await, 10_000);
}

#[tokio::test(start_paused = true)]
async fn who_was_silent_changes_nothing_where_no_controller_hears_it() {
    let (_, [silent, controller], room) = two_services().await;
    silent.announce("admission-a", Announcement::OURS).await.unwrap();
    silent.increment(&room, 0).await.unwrap();
    controller.announce("controller-b", Announcement::OURS).await.unwrap();
    advance(Duration::from_secs(10)).await;
    // The others may have gone over to another server.
    for _ in 0..3 {
        let changed = silent.increment(&room, 1).await;
        assert!(matches!(changed, Err(StoreError::Rewound)), "nothing was sent: {changed:?}");
        silent.announce("admission-a", Announcement::OURS).await.unwrap();
        advance(Duration::from_millis(500)).await;
    }
    controller.announce("controller-b", Announcement::OURS).await.unwrap();
    silent.increment(&room, 1).await.unwrap();
    assert_eq!(silent.read_snapshot(&room).await.unwrap().unwrap().serving_counter, 1);
}

#[tokio::test(start_paused = true)]
async fn who_has_just_begun_waits_until_a_controller_has_heard_it() {
    let (_, [newborn, controller], room) = two_services().await;
    controller.announce("controller-b", Announcement::OURS).await.unwrap();
    advance(Duration::from_millis(100)).await;
    newborn.announce("admission-a", Announcement::OURS).await.unwrap();
    let heard = async {
        tokio::time::sleep(Duration::from_millis(400)).await;
        controller.announce("controller-b", Announcement::OURS).await.unwrap();
    };
    let begun = Instant::now();
    let (changed, ()) = tokio::join!(newborn.increment(&room, 1), heard);
    assert_eq!(changed.unwrap(), 1);
    assert!(begun.elapsed() >= Duration::from_millis(400));
}

#[tokio::test(start_paused = true)]
async fn who_comes_from_another_server_changes_nothing_until_it_is_heard_on_this_one() {
    let (server, [moved, controller], room) = two_services().await;
    moved.announce("admission-a", Announcement::OURS).await.unwrap();
    controller.announce("controller-b", Announcement::OURS).await.unwrap();
    moved.increment(&room, 1).await.unwrap();
    // A replica was promoted, the leader has found nothing wrong with it, and has gone over to a third one.
    server.is_run(&"1".repeat(40));
    let round = Round { room: &room, name: "r", epoch: 1 };
    controller.call_witnesses(&room, 1, "r").await.unwrap();
    assert!(controller.reopen(round, None, &[]).await.unwrap());
    let changed = moved.increment(&room, 1).await;
    assert!(matches!(changed, Err(StoreError::Rewound)), "{changed:?}");
    let (begun, changed) = (Instant::now(), moved.increment(&room, 1).await);
    assert!(matches!(changed, Err(StoreError::Rewound)), "{changed:?}");
    assert!(begun.elapsed() >= Duration::from_millis(800));
    let (begun, changed) = (Instant::now(), moved.increment(&room, 1).await);
    assert!(matches!(changed, Err(StoreError::Rewound)), "{changed:?}");
    assert_eq!(begun.elapsed(), Duration::ZERO, "it was alone for long enough");
    advance(Duration::from_millis(100)).await;
    controller.announce("controller-b", Announcement::OURS).await.unwrap();
    assert_eq!(moved.increment(&room, 1).await.unwrap(), 2);
}

#[tokio::test(start_paused = true)]
async fn who_comes_to_a_server_minutes_after_all_others_have_left_it_is_heard_by_nobody() {
    let (_, [newborn, controller], room) = two_services().await;
    controller.announce("controller-b", Announcement::OURS).await.unwrap();
    advance(Duration::from_mins(9)).await;
    let running = newborn.announce("admission-a", Announcement::OURS).await.unwrap();
    assert!(!running.seen.contains_key("controller-b"), "it does not run any more");
    let changed = newborn.increment(&room, 1).await;
    assert!(matches!(changed, Err(StoreError::Rewound)), "{changed:?}");
    advance(Duration::from_mins(2)).await;
    newborn.increment(&room, 1).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn of_those_who_wait_to_be_heard_one_speaks_for_all() {
    let (_, [newborn, controller], room) = two_services().await;
    controller.announce("controller-b", Announcement::OURS).await.unwrap();
    newborn.announce("admission-a", Announcement::OURS).await.unwrap();
    let before = newborn.calls();
    let all = (0..50).map(|_| newborn.increment(&room, 1));
    let refused = futures_util::future::join_all(all).await;
    assert!(refused.iter().all(|one| matches!(one, Err(StoreError::Rewound))), "{refused:?}");
    assert!(newborn.calls() - before <= 9, "{} calls", newborn.calls() - before);
}

/// Two servers behind one address, which call themselves one.
#[derive(Debug)]
struct Shards([Model; 2]);

impl Shards {
    fn new() -> Self {
        let shards = [0, 1].map(|_| Model::new(Engine::new(), Dialect::Redis7));
        shards[1].is_run(&"1".repeat(40));
        Self(shards)
    }

    /// Which one has the keys of this command.
    fn of(&self, command: &Cmd) -> &Model {
        let words = wire::words(command);
        let tag = words.iter().find_map(|word| word.split(|byte| *byte == b'{').nth(1));
        let is_second = tag.is_some_and(|tag| tag[0] % 2 == 1);
        &self.0[usize::from(is_second)]
    }
}

impl Link for Shards {
    fn call<'a>(&'a self, command: &'a Cmd) -> RedisFuture<'a, Value> {
        Box::pin(async {
            if wire::words(command)[0] == b"SCRIPT" {
                self.0[1].ask(command)?;
                return self.0[0].ask(command);
            }
            self.of(command).ask(command)
        })
    }

    fn subscribe<'a>(
        &'a self,
        channels: &'a [&'a str],
    ) -> BoxFuture<'a, Result<Messages, RedisError>> {
        self.0[0].subscribe(channels)
    }
}

#[tokio::test(start_paused = true)]
async fn where_several_servers_are_behind_one_address_nobody_is_a_stranger() {
    let server = Arc::new(Shards::new());
    let service = || Store::over(server.clone(), Clock::Server);
    let (admission, controller) = (service(), service());
    // `{deployment}` is on the first one.
    let rooms = ["sale", "tickets"].map(|room| RoomId::new(room).unwrap());
    for room in &rooms {
        controller.put_config(room, &RoomConfig::default()).await.unwrap();
    }
    admission.announce("admission-a", Announcement::OURS).await.unwrap();
    advance(Duration::from_millis(1)).await;
    controller.announce("controller-b", Announcement::OURS).await.unwrap();
    let refused = admission.increment(&rooms[0], 1).await;
    assert!(matches!(refused, Err(StoreError::Rewound)), "{refused:?}");
    for room in &rooms {
        for by in 1..4 {
            assert_eq!(admission.increment(room, 1).await.unwrap(), by, "{room}");
        }
    }
}
