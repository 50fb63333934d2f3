//! The server's clock jumps, and a service starts that has seen nothing yet.

use std::sync::Arc;

use tokio::time::{Duration, Instant, advance, sleep};
use vestibule_domain::{RoomId, schedule::RoomConfig};
use vestibule_redis_model::{Dialect, Engine};
use vestibule_store::{Clock, Feed, Store};

use crate::{model::Model, world::START_MS};

const HOUR_MS: i64 = 3_600_000;

fn server() -> Arc<Model> {
    Arc::new(Model::new(Engine::new(), Dialect::Redis7))
}

/// A service that has just started.
fn service(server: &Arc<Model>) -> Store {
    Store::over(server.clone(), Clock::Server)
}

fn room() -> RoomId {
    RoomId::new("sale").unwrap()
}

/// A service that has made a room.
async fn with_a_room(server: &Arc<Model>) -> Store {
    let store = service(server);
    store.learn_time().await.unwrap();
    store.put_config(&room(), &RoomConfig::default()).await.unwrap();
    store
}

/// What time it is in the room, after `store` has written, ms since the test began.
async fn time_in_room(store: &Store) -> i64 {
    store.put_config(&room(), &RoomConfig::default()).await.unwrap();
    let snapshot = store.read_snapshot(&room()).await.unwrap().unwrap();
    i64::try_from(snapshot.now_ms).unwrap() - i64::try_from(START_MS).unwrap()
}

#[tokio::test(start_paused = true)]
async fn an_empty_server_is_asked_once() {
    let (begun, store) = (Instant::now(), service(&server()));
    store.learn_time().await.unwrap();
    assert_eq!(begun.elapsed(), Duration::ZERO);
    assert_eq!(store.calls(), 1);
}

#[tokio::test(start_paused = true)]
async fn who_starts_after_a_jump_goes_by_what_others_say() {
    for jump_ms in [HOUR_MS, -HOUR_MS] {
        let server = server();
        let (known, starts) = (with_a_room(&server).await, service(&server));
        server.is_set(jump_ms);
        let learns = async {
            starts.learn_time().await.unwrap();
            time_in_room(&starts).await
        };
        let tells = async {
            sleep(Duration::from_millis(600)).await;
            known.tell_time().await.unwrap();
        };
        let (at, ()) = tokio::join!(learns, tells);
        assert_eq!(at, 750);
    }
}

#[tokio::test(start_paused = true)]
async fn who_takes_in_changes_reads_no_room_before_it_knows_the_time() {
    let server = server();
    let (known, starts) = (with_a_room(&server).await, service(&server));
    server.is_set(HOUR_MS);
    let feed = Feed::new(starts.clone(), "starts");
    let takes_in = async {
        feed.take_in_changes(|| ()).await.unwrap();
        time_in_room(&starts).await
    };
    let tells = async {
        sleep(Duration::from_millis(600)).await;
        known.tell_time().await.unwrap();
    };
    let (at, ()) = tokio::join!(takes_in, tells);
    assert_eq!(at, 750);
    let read = feed.room("sale").unwrap().snapshot();
    assert!(read.now_ms < START_MS + 1_000, "what is pushed afterwards would count as older");
}

#[tokio::test(start_paused = true)]
async fn who_started_just_before_a_jump_does_not_follow_it() {
    let server = server();
    let (known, starts) = (with_a_room(&server).await, service(&server));
    advance(Duration::from_millis(100)).await;
    starts.learn_time().await.unwrap();
    advance(Duration::from_millis(100)).await;
    server.is_set(HOUR_MS);
    assert_eq!(time_in_room(&starts).await, 200);
    advance(Duration::from_mins(1)).await;
    assert_eq!(time_in_room(&known).await, 60_200);
}

#[tokio::test(start_paused = true)]
async fn where_nobody_says_so_the_servers_clock_is_right() {
    let server = server();
    drop(with_a_room(&server).await);
    server.is_set(HOUR_MS);
    let (begun, starts) = (Instant::now(), service(&server));
    starts.learn_time().await.unwrap();
    assert_eq!(begun.elapsed(), Duration::from_millis(1_500));
    assert_eq!(time_in_room(&starts).await, HOUR_MS + 1_500);
    let next = service(&server);
    next.learn_time().await.unwrap();
    assert_eq!(begun.elapsed(), Duration::from_millis(1_500), "somebody has just said so");
}

/// Whoever knows the time cannot say so where nothing can be written.
#[tokio::test(start_paused = true)]
async fn while_redis_takes_no_writes_nobodys_silence_counts() {
    let server = server();
    let (known, starts) = (with_a_room(&server).await, service(&server));
    server.is_set(HOUR_MS);
    server.refuses(Some("OOM command not allowed when used memory > 'maxmemory'."));
    let learns = async {
        while starts.learn_time().await.is_err() {
            sleep(Duration::from_millis(500)).await;
        }
        time_in_room(&starts).await
    };
    let tells = async {
        sleep(Duration::from_millis(1_400)).await;
        server.refuses(None);
        sleep(Duration::from_millis(300)).await;
        known.tell_time().await.unwrap();
    };
    let (at, ()) = tokio::join!(learns, tells);
    assert_eq!(at, 1_750);
}

#[tokio::test(start_paused = true)]
async fn where_nobody_says_so_the_time_goes_back_no_more_than_it_must() {
    let server = server();
    drop(with_a_room(&server).await);
    server.is_set(-HOUR_MS);
    let starts = service(&server);
    starts.learn_time().await.unwrap();
    assert_eq!(time_in_room(&starts).await, 0, "of the time in between nobody knows");
    advance(Duration::from_mins(1)).await;
    assert_eq!(time_in_room(&starts).await, 60_000, "it does not stand still");
}

#[tokio::test(start_paused = true)]
async fn a_room_is_made_at_the_time_of_the_deployment() {
    let server = server();
    let starts = service(&server);
    starts.learn_time().await.unwrap();
    server.is_set(HOUR_MS);
    assert_eq!(time_in_room(&starts).await, 0);
}

#[tokio::test(start_paused = true)]
async fn the_time_of_the_deployment_and_of_its_rooms_follows_no_jump() {
    for jump_ms in [HOUR_MS, -HOUR_MS] {
        let server = server();
        let store = with_a_room(&server).await;
        server.is_set(jump_ms);
        advance(Duration::from_secs(1)).await;
        for _ in 0..2 {
            let times = [store.now_ms().await, store.now_ms_in(&room()).await];
            assert_eq!(times.map(Result::unwrap), [START_MS + 1_000; 2]);
            let servers = store.server_now_ms().await.unwrap();
            assert_eq!(servers, (START_MS + 1_000).strict_add_signed(jump_ms));
            store.tell_time().await.unwrap();
        }
    }
}

#[tokio::test(start_paused = true)]
async fn who_asks_for_the_time_before_it_was_told_learns_it() {
    let server = server();
    let known = with_a_room(&server).await;
    server.is_set(HOUR_MS);
    known.tell_time().await.unwrap();
    let starts = service(&server);
    assert_eq!(starts.now_ms_in(&room()).await.unwrap(), START_MS);
    assert_eq!(starts.now_ms().await.unwrap(), START_MS);
    assert_eq!(starts.calls(), 1, "it is told once");
}
