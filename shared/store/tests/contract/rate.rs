//! The rate: no 60 seconds ever admit more, and while people wait it is spread evenly.

use std::collections::VecDeque;

use vestibule_domain::RoomSettings;
use vestibule_store::{ClaimOutcome, JoinMode, ManualClock, SessionKind};

use crate::world::{START_MS, World, newcomers, token};

crate::on_every_server!(
    no_window_of_a_minute_admits_more,
    a_quiet_room_may_use_its_minute_at_once,
    while_people_wait_admissions_are_spread_and_none_is_lost,
    after_a_clock_that_went_back_every_admission_is_forgotten_in_time,
    a_clock_that_goes_far_back_and_returns_frees_nothing,
    a_higher_rate_counts_from_the_change_on,
    a_rate_that_goes_up_and_down_lets_nobody_in_early,
    the_pace_is_written_with_the_same_digits_on_every_server,
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

/// Opens a room, and lets newcomers in at these times, ms from the start. The clock may go back, as
/// that of a server does which takes another's place. Returns how many entered each time.
async fn let_in(world: &World, rate: u64, newcomers_at: &[(i64, u64)]) -> Vec<u64> {
    world.open(rated(rate)).await;
    let mut seated = Vec::new();
    for (ms, count) in newcomers_at {
        let clock = ManualClock::at(START_MS.saturating_add_signed(*ms));
        let join = newcomers("here", *count, JoinMode::Enter);
        seated.push(world.server.store(&clock).join(&world.room, &join).await.unwrap().seated);
    }
    seated
}

async fn used_at(world: &World, ms: u64) -> u64 {
    let store = world.server.store(&ManualClock::at(START_MS + ms));
    store.read_snapshot(&world.room).await.unwrap().unwrap().admitted_last_minute
}

async fn after_a_clock_that_went_back_every_admission_is_forgotten_in_time(world: World) {
    let_in(&world, 100, &[(0, 5), (-30_000, 5), (-29_000, 5)]).await;
    assert_eq!(used_at(&world, 0).await, 15);
    // Somebody looks all the time.
    for second in 1..=61 {
        used_at(&world, second * 1_000).await;
    }
    assert_eq!(used_at(&world, 61_000).await, 0);
}

async fn a_clock_that_goes_far_back_and_returns_frees_nothing(world: World) {
    let seated = let_in(&world, 8, &[(0, 5), (-3_600_000, 3), (1_000, 5)]).await;
    assert_eq!(
        seated,
        [5, 3, 0],
        "the room's time stands still meanwhile: all eight are of one minute"
    );
    assert_eq!(used_at(&world, 2_000).await, 8);
    assert_eq!(used_at(&world, 62_000).await, 0);
}

/// How many of these enter, each asking once.
async fn enter(world: &World, numbers: std::ops::RangeInclusive<u64>) -> usize {
    let mut entered = 0;
    for number in numbers {
        let outcome = world.claim(number, SessionKind::AwsStyle).await;
        entered += usize::from(matches!(outcome, ClaimOutcome::Entered(_)));
    }
    entered
}

/// A line that is served, in a room of one a minute that has let the first in long ago, and the second just now.
async fn open_slowly(world: &World) {
    world.open(rated(1)).await;
    world.join(30, JoinMode::Queue).await;
    world.store.increment(&world.room, 20).await.unwrap();
    world.seconds(10);
    assert_eq!(enter(world, 1..=1).await, 1);
    world.seconds(61);
    assert_eq!(enter(world, 2..=3).await, 1);
}

async fn a_higher_rate_counts_from_the_change_on(world: World) {
    open_slowly(&world).await;
    world.put(rated(60)).await;
    let mut entered = 0;
    for _ in 0..100 {
        world.clock.advance_ms(100);
        entered += enter(&world, 3..=20).await;
    }
    assert!((9..=10).contains(&entered), "one a second: {entered}");
}

async fn a_rate_that_goes_up_and_down_lets_nobody_in_early(world: World) {
    open_slowly(&world).await;
    for rate in [60, 1, 60, 1] {
        world.put(rated(rate)).await;
        assert_eq!(enter(&world, 3..=20).await, 0);
    }
    world.seconds(58);
    assert_eq!(enter(&world, 3..=20).await, 0, "one a minute");
    world.seconds(3);
    assert_eq!(enter(&world, 3..=20).await, 1);
}

/// Eleven a minute are paced 5,454.545 ms apart, which no float is exactly.
async fn the_pace_is_written_with_the_same_digits_on_every_server(world: World) {
    world.open(rated(11)).await;
    world.join(200, JoinMode::Queue).await;
    world.store.increment(&world.room, 100).await.unwrap();
    for (number, pause_ms) in [(1, 5_500), (2, 5_500), (3, 100)] {
        token(world.claim(number, SessionKind::AwsStyle).await);
        world.clock.advance_ms(pause_ms);
    }
    // More were let in than this allows, so the pace is written without another admission.
    world.put(rated(2)).await;
    assert_eq!(world.claim(4, SessionKind::AwsStyle).await, ClaimOutcome::NoSeat);
    let read = redis::cmd("HGET").arg("vestibule:room:{sale}:rate").arg("paced_until").clone();
    let pace: String = world.server.ask(&read).await;
    assert_eq!(pace.split('.').next_back().map(str::len), Some(3), "{pace}");
}
