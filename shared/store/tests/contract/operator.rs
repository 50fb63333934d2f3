//! What operators do: settings, increments, resets, deletion.

use vestibule_domain::{RoomSettings, schedule::RoomConfig};
use vestibule_store::{ClaimOutcome, JoinMode, PutOutcome, SessionKind};

use crate::world::{World, limited, token};

crate::on_every_server!(
    settings_change_and_the_line_stays,
    a_change_on_old_settings_is_refused,
    the_counter_moves_by_increments_only,
    an_increment_of_zero_restarts_no_clock,
    a_reset_empties_the_room,
    a_deleted_room_leaves_nothing,
    a_room_of_a_deleted_name_is_another_room,
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

async fn an_increment_of_zero_restarts_no_clock(world: World) {
    world.open(RoomSettings::default()).await;
    world.join(3, JoinMode::Queue).await;
    world.store.increment(&world.room, 3).await.unwrap();
    world.seconds(600);
    assert_eq!(world.store.increment(&world.room, 0).await.unwrap(), 3);
    world.seconds(301);
    assert_eq!(world.claim(2, SessionKind::AwsStyle).await, ClaimOutcome::PositionExpired);
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

async fn a_deleted_room_leaves_nothing(world: World) {
    world.open(limited(2)).await;
    world.join(9, JoinMode::Queue).await;
    token(world.claim(1, SessionKind::AwsStyle).await);
    world.tick(1).await;
    assert!(world.store.delete_room(&world.room).await.unwrap());
    assert_eq!(world.server.keys().await, 0);
    assert!(!world.store.delete_room(&world.room).await.unwrap());
}

async fn a_room_of_a_deleted_name_is_another_room(world: World) {
    world.open(limited(2)).await;
    let before = world.reset_epoch().await;
    world.store.delete_room(&world.room).await.unwrap();
    world.clock.advance_ms(1);
    world.open(limited(2)).await;
    assert!(world.reset_epoch().await > before, "ids of the old room stay invalid");
}
