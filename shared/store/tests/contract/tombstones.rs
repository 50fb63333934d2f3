//! Tombstones: who asks is told what was deleted since it asked last, and nothing is kept for ever.

use std::collections::BTreeMap;

use vestibule_domain::{RoomId, schedule::RoomConfig};
use vestibule_store::{Deletion, Feed, PutOutcome, StoreError};

use crate::world::{World, limited};

crate::on_every_server!(
    each_asks_for_what_is_new,
    after_31_days_nobody_asks_any_more,
    of_thousands_of_an_older_release_each_is_told,
    what_a_release_left_that_knows_no_burials_is_told,
    whoever_has_heard_more_than_redis_has_is_told_all,
    the_epoch_of_a_tombstone_never_goes_back,
    a_list_that_was_lost_alone_is_made_anew,
    who_remembers_a_deletion_that_was_undone_tells_the_leader,
    a_deletion_is_finished_without_a_room_that_was_made_in_its_place,
    a_room_that_redis_has_lost_outlives_the_deletion_of_the_one_before,
    a_room_is_made_anew_by_who_has_not_heard_that_the_one_before_was_deleted,
    whoever_knows_nothing_of_a_room_that_redis_has_lost_does_not_say_that_it_is_gone,
);

/// Its line is lost, and who is asked to delete it has just started: others bring it back.
async fn whoever_knows_nothing_of_a_room_that_redis_has_lost_does_not_say_that_it_is_gone(
    world: World,
) {
    world.open(limited(3)).await;
    let left = async || world.server.keys().await;
    world.server.ask::<()>(redis::cmd("DEL").arg("vestibule:room:{sale}:line")).await;
    let before = left().await;
    for people in [None, Some(9)] {
        let refused = world.another_store().delete_room(&world.room, people).await;
        assert!(matches!(refused, Err(StoreError::Rewound)), "{refused:?}");
        assert_eq!(left().await, before, "what is left of it stays");
    }
    let unknown = RoomId::new("unknown").unwrap();
    let deleted = world.another_store().delete_room(&unknown, Some(9)).await;
    assert_eq!(deleted.unwrap(), Deletion::Missing);
}

const TOMBSTONES: &str = "vestibule:{deployment}:tombstones";
const BURIALS: &str = "vestibule:{deployment}:burials";
const DAY: u64 = 86_400;

fn named(all: &[(&str, u64)]) -> BTreeMap<RoomId, u64> {
    all.iter().map(|(name, epoch)| (RoomId::new(*name).unwrap(), *epoch)).collect()
}

async fn bury(world: &World, name: &str, epoch: u64) -> u64 {
    world.store.bury(&RoomId::new(name).unwrap(), epoch).await.unwrap()
}

async fn told(world: &World, since: Option<u64>) -> BTreeMap<RoomId, u64> {
    world.store.take_burials(since).await.unwrap().rooms
}

async fn each_asks_for_what_is_new(world: World) {
    let nothing = world.store.take_burials(None).await.unwrap();
    assert_eq!((nothing.revision, nothing.rooms.len()), (0, 0));
    // In the same millisecond.
    let first = bury(&world, "a", 7).await;
    let second = bury(&world, "b", 8).await;
    assert!(second > first);
    assert_eq!(told(&world, None).await, named(&[("a", 7), ("b", 8)]));
    assert_eq!(told(&world, Some(first)).await, named(&[("b", 8)]));
    assert_eq!(told(&world, Some(second)).await, named(&[]));
    world.seconds(5);
    let again = bury(&world, "a", 9).await;
    let last = world.store.take_burials(Some(second)).await.unwrap();
    assert_eq!((last.revision, last.rooms), (again, named(&[("a", 9)])));
}

async fn of_thousands_of_an_older_release_each_is_told(world: World) {
    bury(&world, "a", 7).await;
    let mut older = redis::cmd("HSET");
    older.arg("vestibule:{deployment}:tombstones");
    for nth in 0..2_500 {
        older.arg(format!("room-{nth}")).arg(nth);
    }
    world.server.ask::<u64>(&older).await;
    let last = world.store.take_burials(None).await.unwrap();
    assert_eq!(last.rooms.len(), 2_501);
    assert_eq!(told(&world, Some(last.revision - 2_500)).await.len(), 2_500);
}

async fn after_31_days_nobody_asks_any_more(world: World) {
    bury(&world, "a", 7).await;
    world.seconds(30 * DAY);
    bury(&world, "b", 8).await;
    assert_eq!(told(&world, None).await.len(), 2);
    world.seconds(DAY + 1);
    assert_eq!(told(&world, None).await, named(&[("b", 8)]));
    world.seconds(40 * DAY);
    world.open(limited(1)).await;
    world.store.delete_room(&world.room, None).await.unwrap();
    assert_eq!(world.store.tombstones().await.unwrap().len(), 1, "only the last one is kept");
}

async fn what_a_release_left_that_knows_no_burials_is_told(world: World) {
    let known = bury(&world, "a", 7).await;
    let mut set = redis::cmd("HSET");
    world.server.ask::<u64>(set.arg(TOMBSTONES).arg("b").arg(8)).await;
    assert_eq!(told(&world, None).await, named(&[("a", 7), ("b", 8)]));
    assert_eq!(told(&world, Some(known)).await, named(&[("b", 8)]), "from then on to all");
    let read: BTreeMap<String, u64> = world.server.ask(redis::cmd("HGETALL").arg(TOMBSTONES)).await;
    assert_eq!(read.len(), 2, "such a release reads what this one writes");
    world.seconds(31 * DAY + 1);
    assert_eq!(told(&world, None).await, named(&[]));
}

async fn whoever_has_heard_more_than_redis_has_is_told_all(world: World) {
    let last = bury(&world, "a", 7).await;
    assert_eq!(told(&world, Some(last + 1)).await, named(&[("a", 7)]));
}

async fn the_epoch_of_a_tombstone_never_goes_back(world: World) {
    bury(&world, "a", 7).await;
    bury(&world, "a", 5).await;
    assert_eq!(world.store.tombstones().await.unwrap(), named(&[("a", 7)]));
}

async fn a_list_that_was_lost_alone_is_made_anew(world: World) {
    let last = bury(&world, "a", 7).await;
    world.server.ask::<()>(redis::cmd("DEL").arg(BURIALS)).await;
    assert_eq!(told(&world, Some(last)).await, named(&[("a", 7)]));
    bury(&world, "b", 8).await;
    world.server.ask::<()>(redis::cmd("DEL").arg(TOMBSTONES)).await;
    assert_eq!(told(&world, None).await, named(&[]), "whoever was told remembers");
    assert_eq!(told(&world, Some(last)).await, named(&[]));
}

async fn who_remembers_a_deletion_that_was_undone_tells_the_leader(world: World) {
    world.open(limited(1)).await;
    let epoch = world.reset_epoch().await;
    let feed = Feed::new(world.another_store(), "a".to_owned());
    feed.refresh().await.unwrap();
    assert_eq!(feed.buried_upto(&world.room).await, 0);
    world.store.delete_room(&world.room, None).await.unwrap();
    feed.refresh().await.unwrap();
    assert_eq!(feed.buried_upto(&world.room).await, epoch);
    // The room is there again, and the tombstone is not.
    world.server.flush().await;
    world.open(limited(1)).await;
    world.store.call_witnesses(&world.room, 2, "r").await.unwrap();
    feed.testify(&world.room).await.unwrap();
    let accounts = world.store.accounts(&world.room).await.unwrap();
    assert_eq!((accounts["a"].buried, &accounts["a"].testimony), (epoch, &None));
}

/// Deletes the room, and makes another in its place. Returns the epochs of both.
async fn made_anew(world: &World) -> (u64, u64) {
    world.open(limited(1)).await;
    let before = world.reset_epoch().await;
    world.store.delete_room(&world.room, None).await.unwrap();
    world.seconds(1);
    world.open(limited(1)).await;
    (before, world.reset_epoch().await)
}

async fn a_deletion_is_finished_without_a_room_that_was_made_in_its_place(world: World) {
    let (before, epoch) = made_anew(&world).await;
    world.store.finish_deletion(&world.room, before).await.unwrap();
    assert_eq!(world.reset_epoch().await, epoch);
    assert!(world.store.rooms().await.unwrap().contains(&world.room));
    world.store.finish_deletion(&world.room, epoch).await.unwrap();
    assert_eq!(world.store.rooms().await.unwrap(), []);
    assert_eq!(world.store.tombstones().await.unwrap().get(&world.room), Some(&epoch));
}

async fn a_room_that_redis_has_lost_outlives_the_deletion_of_the_one_before(world: World) {
    let (before, epoch) = made_anew(&world).await;
    world.server.flush().await;
    world.store.finish_deletion(&world.room, before).await.unwrap();
    assert_eq!(world.store.tombstones().await.unwrap().get(&world.room), Some(&before));
    let remembered = world.store.reset_epoch(&world.room).await.unwrap();
    assert_eq!(remembered, Some(epoch), "whoever has seen it brings it back");
}

async fn a_room_is_made_anew_by_who_has_not_heard_that_the_one_before_was_deleted(world: World) {
    world.open(limited(1)).await;
    let (before, other) = (world.reset_epoch().await, world.another_store());
    other.read_snapshot(&world.room).await.unwrap().unwrap();
    world.store.delete_room(&world.room, None).await.unwrap();
    let put = other.put_config(&world.room, &RoomConfig::default()).await.unwrap();
    assert_eq!(put, PutOutcome::Created);
    assert!(world.reset_epoch().await > before);
}
