//! A store that was wiped is given its memory back.

use vestibule_domain::restoration::{Restoration, WatermarkReport};
use vestibule_store::{JoinMode, StoreError, Touch};

use crate::world::{World, limited};

crate::on_every_server!(
    a_wiped_room_comes_back_ahead_of_every_number,
    seats_of_the_unseen_stay_taken_until_their_time_is_over,
    a_holder_who_returns_gets_its_session_back,
    increments_go_on_behind_the_gap,
    a_room_that_is_there_is_not_restored,
);

async fn wipe_and_restore(world: &World, seen: &[WatermarkReport]) {
    let last = world.snapshot().await;
    let config = world.store.read_config(&world.room).await.unwrap().unwrap();
    world.server.flush().await;
    let joined = world.try_join(1, JoinMode::Enter).await;
    assert!(matches!(joined, Err(StoreError::RoomMissing)), "nobody joins a lost room");
    for (instance, seen) in seen.iter().enumerate() {
        let held =
            world.store.report_watermarks(&world.room, &instance.to_string(), seen).await.unwrap();
        assert!(!held);
    }
    let heard = world.store.watermark_reports(&world.room).await.unwrap();
    assert_eq!(heard.len(), seen.len());
    let to = Restoration { presence_seconds: 10, ..Restoration::new(&last, &heard, &config) };
    assert!(world.store.restore(&last, 2, &to, &config).await.unwrap());
    let back = world.store.read_config(&world.room).await.unwrap();
    assert_eq!(back, Some(config));
}

async fn a_wiped_room_comes_back_ahead_of_every_number(world: World) {
    world.open(limited(3)).await;
    world.join(20, JoinMode::Enter).await;
    let last = world.snapshot().await;
    let seen = WatermarkReport {
        reset_epoch: last.reset_epoch,
        queue_counter: 33,
        serving_counter: Some(4),
        admitted: 3,
        active: 3,
    };
    wipe_and_restore(&world, &[seen]).await;
    let back = world.snapshot().await;
    assert_eq!(back.settings, last.settings);
    assert_eq!(back.reset_epoch, last.reset_epoch, "request ids stay valid");
    assert_eq!(back.generation, last.generation + 1);
    assert_eq!(back.serving_counter, 4);
    assert!(world.join(1, JoinMode::Enter).await.first > 33);
    assert_eq!(world.store.rooms().await.unwrap(), std::slice::from_ref(&world.room));
}

async fn seats_of_the_unseen_stay_taken_until_their_time_is_over(world: World) {
    world.open(limited(3)).await;
    world.join(20, JoinMode::Enter).await;
    wipe_and_restore(&world, &[]).await;
    assert_eq!(world.snapshot().await.unconfirmed, 3);
    assert_eq!(world.tick(2).await.input.usage.active, 3);
    world.seconds(300);
    assert_eq!(world.tick(2).await.input.usage.active, 3);
    world.seconds(2);
    assert_eq!(world.tick(2).await.input.usage.active, 0);
}

async fn a_holder_who_returns_gets_its_session_back(world: World) {
    world.open(limited(3)).await;
    let joined = world.join(20, JoinMode::Enter).await;
    let touch = |number, generation| Touch {
        reset_epoch: joined.reset_epoch,
        number,
        position: number,
        generation,
        issued_at: joined.issued_at,
        expires_at: joined.expires_at,
    };
    wipe_and_restore(&world, &[]).await;
    let seen = [touch(2, 1), touch(2, 1), touch(9, 2)];
    let touched = world.store.touch(&world.room, "k", "i", &seen).await.unwrap();
    assert!(touched[0].session.is_some() && touched[1].session.is_some());
    assert_eq!(touched[2].session, None, "a seat of this generation would be on record");
    let back = world.snapshot().await;
    assert_eq!(
        (back.active, back.unconfirmed),
        (1, 2),
        "its seat is no longer held for the unseen"
    );
}

async fn increments_go_on_behind_the_gap(world: World) {
    world.open(vestibule_domain::RoomSettings::default()).await;
    world.join(20, JoinMode::Queue).await;
    world.store.increment(&world.room, 15).await.unwrap();
    wipe_and_restore(&world, &[]).await;
    let newcomer = world.join(5, JoinMode::Queue).await.first;
    assert!(newcomer > 20);
    assert_eq!(world.store.increment(&world.room, 5).await.unwrap(), 20);
    let served = world.store.increment(&world.room, 3).await.unwrap();
    assert_eq!(u64::try_from(served).unwrap(), newcomer + 2, "three newcomers are served");
}

async fn a_room_that_is_there_is_not_restored(world: World) {
    world.open(limited(3)).await;
    world.join(5, JoinMode::Enter).await;
    let last = world.snapshot().await;
    let config = world.store.read_config(&world.room).await.unwrap().unwrap();
    let to = Restoration { presence_seconds: 10, ..Restoration::new(&last, &[], &config) };
    assert!(!world.store.restore(&last, 2, &to, &config).await.unwrap());
    assert_eq!(world.snapshot().await.queue_counter, 5);
}
