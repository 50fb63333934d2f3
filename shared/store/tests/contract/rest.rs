//! Rooms that rest: which do, what is due in them, and that whoever changes one wakes it.

use std::time::Duration;

use vestibule_domain::{QueueingMethod, RoomSettings, roll::Chunks};
use vestibule_store::{Feed, JoinMode, SessionKind, TickReport};
use vestibule_tests::eventually;

use crate::{
    events::{event, moment},
    world::{START_MS, World, limited, patient, token},
};

crate::on_every_server!(
    a_settled_room_rests_in_which_nobody_waits,
    the_end_of_a_session_is_due,
    the_next_phase_is_due,
    the_end_of_a_used_up_window_is_due,
    the_expiry_of_a_position_is_due,
    whoever_changes_a_room_that_rests_wakes_it,
    who_only_stays_inside_lets_the_room_rest,
    a_deleted_room_leaves_nothing_though_it_rested,
    the_leader_hears_that_a_room_was_woken,
);

async fn settled(world: &World) -> TickReport {
    world.store.begin_settled_tick(&world.room, &Chunks::default(), 1).await.unwrap()
}

/// When something is due in the room, which rests, in ms after the start.
async fn due(world: &World) -> u64 {
    let report = settled(world).await;
    assert!(report.rests);
    report.due_ms.saturating_sub(START_MS)
}

async fn rests(world: &World) -> bool {
    world.snapshot().await.rests
}

async fn a_settled_room_rests_in_which_nobody_waits(world: World) {
    world.open(limited(1)).await;
    assert!(!world.try_begin(1).await.unwrap().rests && !rests(&world).await, "not settled");
    assert_eq!(due(&world).await, 0, "nothing is due");
    assert!(rests(&world).await);
    world.join(1, JoinMode::Enter).await;
    assert!(settled(&world).await.rests, "it is inside");
    world.join(1, JoinMode::Enter).await;
    let report = settled(&world).await;
    assert!(!report.rests && report.due_ms == 0 && !rests(&world).await, "one waits");
}

async fn the_end_of_a_session_is_due(world: World) {
    world.open(patient(5)).await;
    let joined = world.join(1, JoinMode::Enter).await;
    let end = due(&world).await;
    assert_eq!(START_MS + end, (joined.expires_at + 1) * 1000);
    world.at(START_MS + end - 1);
    assert_eq!(settled(&world).await.counters.active, 1);
    world.at(START_MS + end);
    assert_eq!(settled(&world).await.counters.active, 0);
    assert_eq!(due(&world).await, 0);
}

async fn the_next_phase_is_due(world: World) {
    world.schedule(limited(5), &[event("sale", 1_200, 1_800)]).await;
    assert_eq!(START_MS + due(&world).await, moment(1_200) * 1000);
    world.at(moment(1_200) * 1000);
    let report = settled(&world).await;
    assert!(report.phase_is_over && !report.rests, "it is switched first");
}

async fn the_end_of_a_used_up_window_is_due(world: World) {
    world.open(RoomSettings { new_users_per_minute: Some(2), ..limited(5) }).await;
    world.join(1, JoinMode::Enter).await;
    assert!(due(&world).await > 100_000, "one more may enter: the session ends first");
    world.join(1, JoinMode::Enter).await;
    let resumes = due(&world).await;
    assert!((60_000..60_200).contains(&resumes), "{resumes}");
}

async fn the_expiry_of_a_position_is_due(world: World) {
    world.open(RoomSettings::default()).await;
    world.join(1, JoinMode::Queue).await;
    world.store.increment(&world.room, 1).await.unwrap();
    token(world.claim(1, SessionKind::AwsStyle).await);
    let expires = due(&world).await;
    assert_eq!(START_MS + expires, (START_MS / 1000 + 901) * 1000);
    world.at(START_MS + expires - 1);
    assert_eq!(settled(&world).await.counters.expired_position, 0);
    world.at(START_MS + expires);
    assert_eq!(settled(&world).await.counters.expired_position, 1);
}

async fn whoever_changes_a_room_that_rests_wakes_it(world: World) {
    world.open(limited(5)).await;
    let (store, room) = (&world.store, &world.room);
    for change in 0..6 {
        assert!(settled(&world).await.rests && rests(&world).await);
        match change {
            0 => drop(world.join(1, JoinMode::Enter).await),
            1 => world.leave(1).await,
            2 => drop(store.increment(room, 1).await.unwrap()),
            3 => drop(store.increment(room, -1).await.unwrap()),
            4 => {
                let queueing_method = QueueingMethod::Passthrough;
                world.put(RoomSettings { queueing_method, ..limited(5) }).await;
            }
            _ => drop(store.reset(room).await.unwrap()),
        }
        assert!(!rests(&world).await, "change {change}");
    }
}

async fn who_only_stays_inside_lets_the_room_rest(world: World) {
    world.open(limited(5)).await;
    let joined = world.join(1, JoinMode::Enter).await;
    let touch = World::touch_of(1, &joined);
    let end = due(&world).await;
    world.seconds(100);
    world.store.touch(&world.room, "k", "https://issuer", &[touch]).await.unwrap();
    assert!(rests(&world).await);
    assert!(due(&world).await > end, "its session ends later");
    world.store.roll_up(&world.room, 1, moment(0) / 86_400, moment(0) / 60).await.unwrap();
    assert!(rests(&world).await);
}

async fn a_deleted_room_leaves_nothing_though_it_rested(world: World) {
    world.open(limited(5)).await;
    assert!(settled(&world).await.rests);
    world.store.delete_room(&world.room, None).await.unwrap();
    let mut exists = redis::cmd("EXISTS");
    assert!(!world.server.ask::<bool>(exists.arg("vestibule:room:{sale}:line")).await);
}

async fn the_leader_hears_that_a_room_was_woken(world: World) {
    world.open(limited(5)).await;
    let feed = Feed::new(world.another_store(), "leader".to_owned());
    feed.refresh().await.unwrap();
    let known = feed.room("sale").unwrap();
    assert!(known.was_woken(), "it has just come to be known");
    known.take_wake();
    // The subscription may take a moment: a change before it is not heard.
    let woken = eventually(Duration::from_secs(20), "a wake", async || {
        settled(&world).await;
        world.store.increment(&world.room, 1).await?;
        anyhow::ensure!(known.was_woken(), "not heard yet");
        Ok(())
    });
    tokio::select! {
        biased;
        () = feed.clone().run() => unreachable!("it runs until it is dropped"),
        woken = woken => woken.unwrap(),
    }
}
