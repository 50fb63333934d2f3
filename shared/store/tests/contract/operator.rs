//! What operators do: settings, increments, resets, deletion.

use vestibule_domain::{RoomSettings, schedule::RoomConfig};
use vestibule_store::{
    Begun, ClaimOutcome, Deletion, JoinMode, Moved, People, PutOutcome, SessionKind, StoreError,
};

use crate::{
    lost_answers::LosesAnswers,
    world::{Leader, World, decided, limited, token},
};

crate::on_every_server!(
    settings_change_and_the_line_stays,
    a_change_on_old_settings_is_refused,
    of_two_who_create_a_room_one_has_to_read_it,
    the_counter_moves_by_increments_only,
    a_counter_below_zero_is_moved_on_by_limits_like_one_at_zero,
    whoever_comes_first_sits_at_once_though_the_counter_is_below_zero,
    an_increment_of_zero_restarts_no_clock,
    a_named_call_takes_effect_once,
    a_call_whose_answer_is_lost_is_sent_again_and_takes_effect_once,
    calls_of_a_room_that_was_deleted_do_not_count_for_the_next_of_its_name,
    where_the_counter_stood_is_told_though_it_went_as_far_as_it_can,
    a_reset_empties_the_room,
    a_deleted_room_leaves_nothing_but_its_tombstone,
    a_room_of_a_deleted_name_is_another_room,
    a_room_with_people_is_deleted_by_who_knows_of_them_alone,
    an_empty_room_is_deleted_without_a_number,
);

async fn settings_change_and_the_line_stays(world: World) {
    world.open(limited(2)).await;
    world.join(5, JoinMode::Enter).await;
    assert_eq!(world.put(limited(3)).await, PutOutcome::Changed);
    let snapshot = world.snapshot().await;
    assert_eq!(snapshot.settings, limited(3));
    assert_eq!((snapshot.queue_counter, snapshot.active), (5, 2));
}

async fn a_change_on_old_settings_is_refused(world: World) {
    world.open(limited(2)).await;
    let read = world.store.read_config(&world.room).await.unwrap().unwrap();
    world.put(limited(9)).await;
    let late = RoomConfig { settings: limited(3), ..read };
    let put = world.store.put_config(&world.room, &late).await.unwrap();
    assert_eq!(put, PutOutcome::Conflict);
    assert_eq!(world.snapshot().await.settings, limited(9));
}

/// Else what the first has given the room since is gone.
async fn of_two_who_create_a_room_one_has_to_read_it(world: World) {
    let create = async |total_active_users| {
        let config = RoomConfig { settings: limited(total_active_users), ..RoomConfig::default() };
        world.store.create_room(&world.room, &config).await.unwrap()
    };
    assert_eq!(create(2).await, PutOutcome::Created);
    assert_eq!(create(3).await, PutOutcome::Conflict);
    assert_eq!(world.snapshot().await.settings, limited(2));
}

async fn the_counter_moves_by_increments_only(world: World) {
    world.open(RoomSettings::default()).await;
    world.join(10, JoinMode::Queue).await;
    assert_eq!(world.store.increment(&world.room, 5).await.unwrap(), 5);
    assert_eq!(world.store.increment(&world.room, -100).await.unwrap(), -95);
    assert_eq!(world.snapshot().await.serving_counter, -95);
    world.tick(1).await;
    assert_eq!(world.store.increment(&world.room, 98).await.unwrap(), 3);
    token(world.claim(3, SessionKind::AwsStyle).await);
    assert_eq!(world.store.increment(&world.room, -1).await.unwrap(), 2);
    assert_eq!(
        world.claim(3, SessionKind::AwsStyle).await,
        ClaimOutcome::NotServed,
        "a token does not help below the counter"
    );
}

/// Else nobody ever enters again.
async fn a_counter_below_zero_is_moved_on_by_limits_like_one_at_zero(world: World) {
    world.open(limited(2)).await;
    assert_eq!(world.join(9, JoinMode::Enter).await.serving_counter, 2);
    assert_eq!(world.store.increment(&world.room, -7).await.unwrap(), -5);
    world.tick(1).await;
    assert_eq!(world.snapshot().await.serving_counter, 3, "two are inside, and one more");
    // An operator takes it back while a plan is made: that plan is dropped, the next one is not.
    let tick = world.begin(1).await;
    assert_eq!(world.store.increment(&world.room, -5).await.unwrap(), -2);
    let mut late = decided(&tick.input);
    late.plan.serving_counter = 4;
    assert_eq!(world.apply(1, &tick, &late).await, -2);
    world.tick(1).await;
    assert_eq!(world.snapshot().await.serving_counter, 3, "as before");
}

async fn whoever_comes_first_sits_at_once_though_the_counter_is_below_zero(world: World) {
    world.open(limited(2)).await;
    assert_eq!(world.store.increment(&world.room, -5).await.unwrap(), -5);
    assert_eq!(world.join(3, JoinMode::Enter).await.seated, 2);
    assert_eq!(world.snapshot().await.serving_counter, 2);
}

async fn an_increment_of_zero_restarts_no_clock(world: World) {
    world.open(RoomSettings::default()).await;
    world.join(3, JoinMode::Queue).await;
    world.store.increment(&world.room, 3).await.unwrap();
    world.seconds(600);
    assert_eq!(world.store.increment(&world.room, 0).await.unwrap(), 3);
    world.seconds(301);
    assert_eq!(world.claim(2, SessionKind::AwsStyle).await, ClaimOutcome::PositionExpired);
}

async fn a_named_call_takes_effect_once(world: World) {
    let (store, room) = (&world.store, &world.room);
    world.open(RoomSettings::default()).await;
    assert_eq!(store.increment_once(room, "a", 5).await.unwrap(), moved(0, 5, false));
    store.increment(room, 2).await.unwrap();
    assert_eq!(store.increment_once(room, "a", 5).await.unwrap(), moved(0, 5, true), "as then");
    assert_eq!(store.increment_once(room, "a", 6).await.unwrap(), None, "it names another call");
    assert_eq!(world.snapshot().await.serving_counter, 7);
    let begun = store.reset_once(room, "a").await.unwrap();
    world.join(3, JoinMode::Queue).await;
    assert_eq!(store.reset_once(room, "a").await.unwrap(), Begun { again: true, ..begun });
    assert_eq!(world.snapshot().await.queue_counter, 3, "nobody lost a place by it");
    assert!(store.reset_once(room, "b").await.unwrap().reset_epoch > begun.reset_epoch);
}

async fn a_call_whose_answer_is_lost_is_sent_again_and_takes_effect_once(world: World) {
    world.open(RoomSettings::default()).await;
    let (store, link) = LosesAnswers::of(&world);
    let room = &world.room;
    // Both scripts are loaded.
    store.increment(room, 1).await.unwrap();
    let epoch = store.reset(room).await.unwrap();
    link.lose(1);
    assert_eq!(store.increment(room, 5).await.unwrap(), 5);
    link.lose(1);
    assert!(store.reset(room).await.unwrap() > epoch);
    link.lose(2);
    let unknown = store.increment_once(room, "mine", 4).await;
    assert!(matches!(unknown, Err(StoreError::Unavailable(_))), "{unknown:?}");
    assert_eq!(store.increment_once(room, "mine", 4).await.unwrap(), moved(0, 4, true));
    link.lose(1);
    let first = store.increment_once(room, "first", 1).await.unwrap();
    assert_eq!(first, moved(4, 5, false), "it was this very call's first attempt");
    assert_eq!(world.snapshot().await.serving_counter, 5);
}

/// The room, its names and its number are others': what was done to the one before was not done to this one.
async fn calls_of_a_room_that_was_deleted_do_not_count_for_the_next_of_its_name(world: World) {
    let (store, room) = (&world.store, &world.room);
    let deleted = async || {
        assert!(matches!(store.delete_room(room, None).await.unwrap(), Deletion::Done(_)));
        world.open(RoomSettings::default()).await;
    };
    world.open(RoomSettings::default()).await;
    store.increment_once(room, "a", 5).await.unwrap();
    deleted().await;
    assert_eq!(store.increment_once(room, "a", 6).await.unwrap(), moved(0, 6, false));
    let before = store.reset_once(room, "a").await.unwrap();
    deleted().await;
    let begun = store.reset_once(room, "a").await.unwrap();
    assert!(begun.reset_epoch > before.reset_epoch && !begun.again);
    assert_eq!(store.increment_once(room, "a", 5).await.unwrap(), moved(0, 5, false));
    store.reset(room).await.unwrap();
    assert_eq!(
        store.increment_once(room, "a", 5).await.unwrap(),
        moved(0, 5, true),
        "the same room"
    );
}

async fn where_the_counter_stood_is_told_though_it_went_as_far_as_it_can(world: World) {
    const MOST: i64 = (1 << 53) - 1;
    let (store, room) = (&world.store, &world.room);
    world.open(RoomSettings::default()).await;
    store.increment(room, 7).await.unwrap();
    assert_eq!(store.increment_once(room, "a", MOST).await.unwrap(), moved(7, MOST, false));
}

#[expect(clippy::unnecessary_wraps, reason = "as it is answered")]
fn moved(from: i64, to: i64, again: bool) -> Option<Moved> {
    Some(Moved { from: Some(from), to, again })
}

async fn a_reset_empties_the_room(world: World) {
    world.open(limited(2)).await;
    world.join(9, JoinMode::Enter).await;
    world.tick(1).await;
    world.store.reset(&world.room).await.unwrap();
    let snapshot = world.snapshot().await;
    assert_eq!((snapshot.queue_counter, snapshot.serving_counter), (0, 0));
    assert_eq!((snapshot.active, snapshot.admitted), (0, 0));
    assert_eq!(snapshot.admitted_last_minute, 2, "the site has let them in all the same");
    assert_eq!(snapshot.settings, limited(2));
    assert_eq!(world.join(2, JoinMode::Enter).await.seated, 2);
}

async fn a_deleted_room_leaves_nothing_but_its_tombstone(world: World) {
    world.open(limited(2)).await;
    world.join(9, JoinMode::Queue).await;
    token(world.claim(1, SessionKind::AwsStyle).await);
    world.tick(1).await;
    let deleted = world.store.delete_room(&world.room, None).await.unwrap();
    assert!(matches!(deleted, Deletion::Done(_)));
    assert_eq!(
        world.server.keys().await,
        3,
        "only that it was there once, and when it was deleted, and what a call was answered"
    );
    assert_eq!(world.store.tombstones().await.unwrap().len(), 1);
    let again = world.store.delete_room(&world.room, None).await.unwrap();
    assert_eq!(again, Deletion::Missing);
}

async fn a_room_of_a_deleted_name_is_another_room(world: World) {
    world.open(limited(2)).await;
    let before = world.reset_epoch().await;
    world.store.delete_room(&world.room, None).await.unwrap();
    world.clock.advance_ms(1);
    world.open(limited(2)).await;
    assert!(world.reset_epoch().await > before, "ids of the old room stay invalid");
}

async fn a_room_with_people_is_deleted_by_who_knows_of_them_alone(world: World) {
    world.open(limited(2)).await;
    let delete = async |people| world.store.delete_room(&world.room, Some(people)).await.unwrap();
    world.join(5, JoinMode::Enter).await;
    let mut leader = Leader::new(1);
    for _ in 0..3 {
        leader.tick(&world).await;
    }
    // One more has come since the line was counted.
    world.join(1, JoinMode::Enter).await;
    let people = People { waiting: 4, inside: 2 };
    let before = world.snapshot().await;
    assert_eq!(before.waiting() + before.active, people.count(), "as its status says");
    for too_few in [0, 5] {
        assert_eq!(delete(too_few).await, Deletion::Occupied(people));
    }
    assert_eq!(world.snapshot().await, before, "nothing has changed");
    assert!(world.store.tombstones().await.unwrap().is_empty());
    assert_eq!(delete(6).await, Deletion::Done(people));
    assert_eq!(world.store.tombstones().await.unwrap().len(), 1);
    assert_eq!(delete(0).await, Deletion::Missing);
}

async fn an_empty_room_is_deleted_without_a_number(world: World) {
    world.open(limited(2)).await;
    world.join(2, JoinMode::Enter).await;
    world.tick(2).await;
    let deleted = world.store.delete_room(&world.room, Some(0)).await.unwrap();
    assert_eq!(deleted, Deletion::Occupied(People { waiting: 0, inside: 2 }));
    world.seconds(301);
    let deleted = world.store.delete_room(&world.room, Some(0)).await.unwrap();
    assert_eq!(deleted, Deletion::Done(People::default()), "their sessions have run out");
}
