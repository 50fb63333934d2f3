//! A service that was told nothing catches up, and says what it does not know.

use std::time::Duration;

use vestibule_domain::{RoomId, schedule::RoomConfig};
use vestibule_redis_model::Dialect;
use vestibule_store::{Feed, HEARTBEAT};

use crate::{
    lost_answers::LosesAnswers,
    server::Server,
    world::{World, limited, testimony},
};

crate::on_every_server!(
    whoever_was_not_told_of_a_reset_reads_the_room,
    a_reading_that_fails_is_shared_as_well,
    a_room_in_place_of_a_deleted_one_is_another,
    whoever_was_apart_reads_the_config_though_its_own_has_the_same_version,
);

async fn fed(world: &World) -> Feed {
    world.open(limited(3)).await;
    let feed = Feed::new(world.another_store(), "late".to_owned());
    feed.refresh().await.unwrap();
    feed
}

fn reset_epoch(feed: &Feed) -> u64 {
    feed.room("sale").unwrap().snapshot().reset_epoch
}

async fn whoever_was_not_told_of_a_reset_reads_the_room(world: World) {
    let feed = fed(&world).await;
    let (known, before) = (feed.room("sale").unwrap(), reset_epoch(&feed));
    world.seconds(1);
    world.store.reset(&world.room).await.unwrap();
    assert_eq!(reset_epoch(&feed), before);
    let all = futures_util::future::join_all((0..50).map(|_| feed.catch_up(&known))).await;
    assert!(all.iter().all(Result::is_ok));
    assert_eq!(reset_epoch(&feed), world.reset_epoch().await);
    assert!(reset_epoch(&feed) > before);
}

/// Redis may have stopped to answer: then each reading takes as long as one may.
async fn a_reading_that_fails_is_shared_as_well(world: World) {
    world.open(limited(3)).await;
    let (store, link) = LosesAnswers::of(&world);
    let feed = Feed::new(store, "late".to_owned());
    feed.refresh().await.unwrap();
    let known = feed.room("sale").unwrap();
    link.lose(1_000);
    let all = futures_util::future::join_all((0..50).map(|_| feed.catch_up(&known))).await;
    assert!(all.iter().all(Result::is_err));
    let calls = 1_000 - link.left();
    assert!(calls <= 4, "each reading is tried twice, and {calls} calls were made");
    link.lose(0);
    feed.catch_up(&known).await.unwrap();
}

async fn a_room_in_place_of_a_deleted_one_is_another(world: World) {
    let feed = fed(&world).await;
    let known = feed.room("sale").unwrap();
    world.store.delete_room(&world.room, None).await.unwrap();
    feed.forget(&world.room).await;
    world.seconds(1);
    world.open(limited(3)).await;
    assert!(feed.room("sale").is_none());
    feed.catch_up(&known).await.unwrap();
    assert_eq!(reset_epoch(&feed), world.reset_epoch().await);
}

async fn whoever_was_apart_reads_the_config_though_its_own_has_the_same_version(world: World) {
    let feed = fed(&world).await;
    let known = feed.room("sale").unwrap();
    let config = || known.stored_config().unwrap().config.clone();
    let before = config().version;
    // On the other side of a split the same version was another.
    world.put(limited(7)).await;
    let mut seen = testimony(&world.snapshot().await);
    (seen.stamp.nonce, seen.queue_counter) = ("another".to_owned(), 9);
    feed.receive(world.snapshot().await).await;
    feed.refresh().await.unwrap();
    assert_eq!((config().version, config().settings.total_active_users), (before + 1, Some(7)));
    let mut set = redis::cmd("HSET");
    set.arg("vestibule:room:{sale}:settings").arg("version").arg(before);
    world.server.ask::<()>(&set).await;
    world.put(limited(5)).await;
    world.reconcile(&[seen], &[], &world.config().await).await;
    feed.receive(world.snapshot().await).await;
    feed.refresh().await.unwrap();
    assert_eq!((config().version, config().settings.total_active_users), (before + 1, Some(5)));
}

/// On the model alone, because the time of the feed stands still.
#[tokio::test(start_paused = true)]
async fn only_after_two_readings_a_room_is_known_not_to_exist() {
    let world = World::on(Server::model(Dialect::Redis7));
    world.open(limited(3)).await;
    let feed = Feed::new(world.another_store(), "late".to_owned());
    let read_after = async |ms| {
        tokio::time::advance(std::time::Duration::from_millis(ms)).await;
        feed.refresh().await.unwrap();
        feed.knows_every_room()
    };
    assert!(!read_after(0).await && !read_after(499).await, "somebody may list it again");
    assert!(read_after(1).await);
    assert!(!read_after(1_501).await, "the last one was too long ago");
    assert!(read_after(500).await);
    world
        .server
        .ask::<()>(redis::cmd("SADD").arg("vestibule:{deployment}:rooms").arg("lost"))
        .await;
    assert!(!read_after(500).await, "it is listed, and cannot be read");
}

/// On the model alone, because the time of the feed stands still.
#[tokio::test(start_paused = true)]
async fn of_a_room_that_is_not_known_a_reading_says_that_begins_afterwards() {
    let world = World::on(Server::model(Dialect::Redis7));
    world.open(limited(3)).await;
    let feed = Feed::new(world.another_store(), "late".to_owned());
    assert!(!feed.reads_every_room().await, "it has read none");
    for _ in 0..2 {
        feed.refresh().await.unwrap();
        tokio::time::advance(Duration::from_millis(500)).await;
    }
    assert!(feed.knows_every_room());
    let (begun, room) = (tokio::time::Instant::now(), RoomId::new("new").unwrap());
    world.store.put_config(&room, &RoomConfig::default()).await.unwrap();
    assert!(feed.room("new").is_none() && feed.knows_every_room(), "it has not heard of it");
    let reads = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        feed.refresh().await.unwrap();
    };
    let (is_sure, ()) = tokio::join!(feed.reads_every_room(), reads);
    assert!(is_sure && feed.room("new").is_some());
    assert_eq!(begun.elapsed(), Duration::from_millis(300));
    assert!(!feed.reads_every_room().await, "nobody reads");
    assert_eq!(begun.elapsed(), Duration::from_millis(1_800));
    feed.refresh().await.unwrap();
    tokio::time::advance(Duration::from_millis(500)).await;
    feed.refresh().await.unwrap();
    let (asked, crowd) = (tokio::time::Instant::now(), feed.clone());
    let crowd = tokio::spawn(async move {
        futures_util::future::join_all((0..500).map(|_| crowd.reads_every_room())).await
    });
    tokio::task::yield_now().await;
    assert!(!feed.reads_every_room().await, "too many wait");
    assert_eq!(asked.elapsed(), Duration::ZERO);
    tokio::time::advance(Duration::from_millis(500)).await;
    feed.refresh().await.unwrap();
    assert!(crowd.await.unwrap().into_iter().all(|is_sure| is_sure));
}

/// On the model alone, because the time of the feed stands still.
#[tokio::test(start_paused = true)]
async fn a_room_that_is_pushed_is_not_read() {
    let world = World::on(Server::model(Dialect::Redis7));
    let feed = fed(&world).await;
    let room = feed.room("sale").unwrap();
    for _ in 0..4 {
        // A push comes with the first tick after the heartbeat's time.
        tokio::time::advance(HEARTBEAT + Duration::from_millis(250)).await;
        let news = room.news();
        feed.refresh().await.unwrap();
        assert_eq!(room.news(), news, "the push is on its way");
        world.seconds(1);
        feed.receive(world.snapshot().await).await;
    }
    let news = room.news();
    tokio::time::advance(3 * HEARTBEAT).await;
    feed.refresh().await.unwrap();
    assert!(room.news() > news, "no push came");
}
