//! The rate: no 60 seconds ever admit more, and while people wait it is spread evenly.

use std::collections::VecDeque;

use vestibule_domain::RoomSettings;
use vestibule_store::{ClaimOutcome, JoinMode, SessionKind};

use crate::world::World;

crate::on_both_servers!(
    no_window_of_a_minute_admits_more,
    a_quiet_room_may_use_its_minute_at_once,
    while_people_wait_admissions_are_spread_and_none_is_lost,
);

fn rated(rate: u64) -> RoomSettings {
    let settings = RoomSettings { new_users_per_minute: Some(rate), ..RoomSettings::default() };
    RoomSettings { position_expiry_seconds: None, ..settings }
}

/// A few hundred steps of uneven length, with someone claiming at each.
async fn no_window_of_a_minute_admits_more(world: World) {
    world.open(rated(20)).await;
    world.join(2_000, JoinMode::Queue).await;
    world.store.increment(&world.room, 2_000).await.unwrap();
    let mut admitted: VecDeque<u64> = VecDeque::new();
    let (mut number, mut total) = (1, 0);
    for step in 0..600_u64 {
        // Bursts, crawls and pauses.
        world.clock.advance_ms([3, 40, 700, 1, 2_500, 99, 101, 12_000][(step * 7 % 8) as usize]);
        while matches!(world.claim(number, SessionKind::AwsStyle).await, ClaimOutcome::Entered(_)) {
            admitted.push_back(world.clock.now_ms());
            number += 1;
            total += 1;
        }
        let now = world.clock.now_ms();
        while admitted.front().is_some_and(|at| at + 60_000 <= now) {
            admitted.pop_front();
        }
        assert!(admitted.len() <= 20, "{} in a minute", admitted.len());
    }
    assert!(total > 300, "{total}");
}

async fn a_quiet_room_may_use_its_minute_at_once(world: World) {
    world.open(rated(30)).await;
    assert_eq!(world.join(50, JoinMode::Enter).await.seated, 30);
    assert_eq!(world.snapshot().await.admitted_last_minute, 30);
    world.seconds(59);
    assert_eq!(world.claim(31, SessionKind::Visitor).await, ClaimOutcome::NotServed);
    world.seconds(2);
    assert_eq!(world.snapshot().await.admitted_last_minute, 0);
}

async fn while_people_wait_admissions_are_spread_and_none_is_lost(world: World) {
    world.open(rated(60)).await;
    world.join(1_000, JoinMode::Queue).await;
    world.store.increment(&world.room, 900).await.unwrap();
    world.seconds(61);
    let mut per_second = Vec::new();
    let mut number = 61;
    for _ in 0..600 {
        world.clock.advance_ms(500);
        let before = number;
        while matches!(world.claim(number, SessionKind::AwsStyle).await, ClaimOutcome::Entered(_)) {
            number += 1;
        }
        per_second.push(number - before);
    }
    let later = &per_second[120..];
    assert!(later.iter().all(|admitted| *admitted <= 2), "spread: {later:?}");
    let total: u64 = later.iter().sum();
    assert!((235..=240).contains(&total), "98 % of 240 and no more: {total}");
}
