//! Positions that are not claimed in time: the AWS clock rules, to the second.

use vestibule_domain::{Announcement, Place, RoomSettings};
use vestibule_store::{ClaimOutcome, JoinMode, PositionExpiry, SessionKind};

use crate::{
    entered_once::{lose, service},
    world::{START_MS, World, decided, limited, token},
};

crate::on_every_server!(
    a_position_expires_to_the_second,
    the_clock_starts_at_the_later_of_join_and_serving,
    earlier_visitors_of_a_row_keep_their_own_clock,
    a_token_exempts_from_position_expiry,
    the_counter_makes_up_for_unclaimed_positions,
    who_found_no_seat_does_not_expire,
    who_waits_at_the_door_without_claiming_does_not_expire,
    a_visitor_who_is_a_little_late_is_not_sent_back,
    no_position_expires_while_the_room_is_held,
    what_has_expired_stays_so_when_its_row_is_forgotten,
    what_has_expired_stays_so_when_the_room_was_held,
    who_stood_at_the_door_when_the_room_was_held_has_its_time_anew,
    who_asked_and_whose_row_has_expired_has_its_time_anew_after_a_loss,
    who_is_served_again_has_its_time_anew,
    of_those_who_have_entered_none_waits_again_when_the_counter_is_taken_back,
    who_was_given_its_time_anew_keeps_it_when_the_room_is_held_again,
    who_came_after_its_row_was_served_keeps_its_time_when_the_counter_is_taken_back,
    no_position_expires_by_a_time_in_which_its_service_was_cut_off,
    positions_expire_while_the_counter_moves_several_times_a_second,
    where_no_position_expires_one_row_stands_for_all,
    rows_of_numbers_that_nobody_has_are_bounded,
);

async fn left(world: &World, number: u64, entered_at: u64) -> PositionExpiry {
    let entered_at = u32::try_from(entered_at).unwrap();
    let place = Place { number, entered_at, region: 1 };
    let epoch = world.reset_epoch().await;
    world.store.position_expiry(&world.room, epoch, &place, number).await.unwrap()
}

async fn a_position_expires_to_the_second(world: World) {
    world.open(RoomSettings::default()).await;
    world.join(10, JoinMode::Queue).await;
    assert_eq!(left(&world, 2, START_MS / 1000).await, PositionExpiry::NotServed);
    world.store.increment(&world.room, 3).await.unwrap();
    let now = START_MS / 1000;
    assert_eq!(left(&world, 2, now).await, PositionExpiry::Claimable { seconds_left: 900 });
    world.seconds(900);
    world.tick(1).await;
    assert_eq!(left(&world, 2, now).await, PositionExpiry::Claimable { seconds_left: 0 });
    token(world.claim(1, SessionKind::AwsStyle).await);
    world.seconds(1);
    assert_eq!(left(&world, 2, now).await, PositionExpiry::Expired);
    assert_eq!(world.claim(2, SessionKind::AwsStyle).await, ClaimOutcome::PositionExpired);
    world.tick(1).await;
    assert_eq!(world.claim(2, SessionKind::AwsStyle).await, ClaimOutcome::PositionExpired);
    assert_eq!(world.claim(4, SessionKind::AwsStyle).await, ClaimOutcome::NotServed);
}

async fn the_clock_starts_at_the_later_of_join_and_serving(world: World) {
    world.open(RoomSettings::default()).await;
    world.store.increment(&world.room, 5).await.unwrap();
    world.seconds(2000);
    world.tick(1).await;
    world.join(5, JoinMode::Queue).await;
    let entered_at = world.clock.now_ms() / 1000;
    world.seconds(600);
    world.tick(1).await;
    let expected = PositionExpiry::Claimable { seconds_left: 300 };
    assert_eq!(left(&world, 4, entered_at).await, expected, "served before it came");
    world.seconds(301);
    world.tick(1).await;
    assert_eq!(left(&world, 4, entered_at).await, PositionExpiry::Expired);
}

async fn earlier_visitors_of_a_row_keep_their_own_clock(world: World) {
    world.open(RoomSettings::default()).await;
    world.store.increment(&world.room, 5).await.unwrap();
    world.seconds(100);
    world.join(3, JoinMode::Queue).await;
    let early = world.clock.now_ms() / 1000;
    world.seconds(400);
    world.join(2, JoinMode::Queue).await;
    let late = world.clock.now_ms() / 1000;
    world.seconds(501);
    world.tick(1).await;
    assert_eq!(left(&world, 3, early).await, PositionExpiry::Expired);
    assert_eq!(left(&world, 5, late).await, PositionExpiry::Claimable { seconds_left: 399 });
}

async fn a_token_exempts_from_position_expiry(world: World) {
    world.open(RoomSettings::default()).await;
    world.join(3, JoinMode::Queue).await;
    world.store.increment(&world.room, 3).await.unwrap();
    let first = token(world.claim(1, SessionKind::AwsStyle).await);
    world.seconds(2000);
    world.tick(1).await;
    assert_eq!(token(world.claim(1, SessionKind::AwsStyle).await), first);
}

async fn the_counter_makes_up_for_unclaimed_positions(world: World) {
    let settings = RoomSettings { advance_on_position_expiry: true, ..RoomSettings::default() };
    world.open(settings).await;
    world.join(10, JoinMode::Queue).await;
    world.store.increment(&world.room, 3).await.unwrap();
    token(world.claim(1, SessionKind::AwsStyle).await);
    world.seconds(901);
    world.tick(1).await;
    let snapshot = world.snapshot().await;
    assert_eq!((snapshot.expired_position, snapshot.expired), (3, 2));
    assert_eq!(snapshot.serving_counter, 5, "two of three were not claimed");
    assert_eq!(snapshot.numbers_waiting(snapshot.progress()), 7);
    world.tick(1).await;
    assert_eq!(world.snapshot().await.serving_counter, 5, "once");
}

async fn who_found_no_seat_does_not_expire(world: World) {
    world.open(limited(1)).await;
    world.join(2, JoinMode::Queue).await;
    world.store.increment(&world.room, 1).await.unwrap();
    token(world.claim(1, SessionKind::AwsStyle).await);
    for _ in 0..3 {
        world.seconds(800);
        assert_eq!(world.claim(2, SessionKind::AwsStyle).await, ClaimOutcome::NoSeat);
        world.tick(1).await;
    }
    world.seconds(850);
    assert_eq!(world.claim(2, SessionKind::AwsStyle).await, ClaimOutcome::NoSeat);
    world.seconds(3600 - 3250 + 1);
    token(world.claim(2, SessionKind::AwsStyle).await);
    let snapshot = world.snapshot().await;
    assert_eq!(snapshot.numbers_waiting(snapshot.progress()), 0, "it did not expire after all");
}

async fn who_waits_at_the_door_without_claiming_does_not_expire(world: World) {
    world.open(limited(1)).await;
    world.join(30, JoinMode::Queue).await;
    world.store.increment(&world.room, 2).await.unwrap();
    token(world.claim(1, SessionKind::AwsStyle).await);
    let epoch = world.reset_epoch().await;
    for _ in 0..4 {
        world.seconds(800);
        assert!(world.store.extend_claim_window(&world.room, epoch, 2).await.unwrap());
        world.tick(1).await;
    }
    assert!(
        !world.store.extend_claim_window(&world.room, epoch, 30).await.unwrap(),
        "it is not its turn"
    );
    assert!(
        !world.store.extend_claim_window(&world.room, epoch - 1, 2).await.unwrap(),
        "of before a reset"
    );
    assert_eq!(world.snapshot().await.active, 1, "it took no seat");
    world.seconds(3600 - 3200 + 1);
    token(world.claim(2, SessionKind::AwsStyle).await);
}

async fn a_visitor_who_is_a_little_late_is_not_sent_back(world: World) {
    world.open(RoomSettings::default()).await;
    world.join(3, JoinMode::Enter).await;
    world.store.increment(&world.room, 3).await.unwrap();
    world.seconds(1700);
    world.tick(1).await;
    assert_eq!(world.claim(1, SessionKind::AwsStyle).await, ClaimOutcome::PositionExpired);
    token(world.claim(2, SessionKind::Visitor).await);
    world.seconds(200);
    assert_eq!(world.claim(3, SessionKind::Visitor).await, ClaimOutcome::PositionExpired);
}

async fn no_position_expires_while_the_room_is_held(world: World) {
    let held = RoomSettings { queue_all: true, ..RoomSettings::default() };
    world.open(RoomSettings::default()).await;
    world.join(3, JoinMode::Queue).await;
    world.store.increment(&world.room, 2).await.unwrap();
    world.put(held).await;
    for _ in 0..100 {
        world.seconds(10);
        world.tick(1).await;
    }
    assert_eq!(world.claim(1, SessionKind::AwsStyle).await, ClaimOutcome::NoSeat);
    world.put(RoomSettings::default()).await;
    world.seconds(899);
    world.tick(1).await;
    token(world.claim(1, SessionKind::AwsStyle).await);
    world.seconds(3);
    world.tick(1).await;
    assert_eq!(world.claim(2, SessionKind::AwsStyle).await, ClaimOutcome::PositionExpired);
}

/// Three have expired, of ten who joined at the beginning; the first was told so.
async fn expire_three(world: &World) {
    world.open(RoomSettings::default()).await;
    world.join(10, JoinMode::Queue).await;
    world.store.increment(&world.room, 3).await.unwrap();
    world.seconds(901);
    world.tick(1).await;
    is_expired(world, 1).await;
}

async fn is_expired(world: &World, number: u64) {
    assert_eq!(left(world, number, START_MS / 1000).await, PositionExpiry::Expired, "{number}");
    let claimed = world.claim(number, SessionKind::AwsStyle).await;
    assert_eq!(claimed, ClaimOutcome::PositionExpired, "{number}");
}

/// Longer than its row is kept, while a younger row is not over.
async fn what_has_expired_stays_so_when_its_row_is_forgotten(world: World) {
    expire_three(&world).await;
    world.seconds(2 * 900 + 60 - 911);
    world.store.increment(&world.room, 1).await.unwrap();
    world.seconds(12);
    world.tick(1).await;
    is_expired(&world, 1).await;
    is_expired(&world, 3).await;
    token(world.claim(4, SessionKind::AwsStyle).await);
    let epoch = world.store.reset(&world.room).await.unwrap();
    assert_eq!(world.reset_epoch().await, epoch);
    let now = world.clock.now_ms() / 1000;
    world.join(1, JoinMode::Queue).await;
    world.store.increment(&world.room, 1).await.unwrap();
    assert!(matches!(left(&world, 1, now).await, PositionExpiry::Claimable { .. }));
    token(world.claim_entered(1, SessionKind::AwsStyle, now).await);
}

async fn hold_for(world: &World, seconds: u64) {
    world.put(RoomSettings { queue_all: true, ..RoomSettings::default() }).await;
    world.tick(1).await;
    world.seconds(seconds);
    world.tick(1).await;
    world.put(RoomSettings::default()).await;
    world.tick(1).await;
}

async fn what_has_expired_stays_so_when_the_room_was_held(world: World) {
    expire_three(&world).await;
    // Served before they came: the fourth comes earlier than the last of its row, which has not expired yet.
    world.store.increment(&world.room, 8).await.unwrap();
    world.seconds(800);
    world.join(1, JoinMode::Queue).await;
    world.seconds(101);
    world.tick(1).await;
    is_expired(&world, 4).await;
    hold_for(&world, 1).await;
    is_expired(&world, 1).await;
    is_expired(&world, 4).await;
    let late = (START_MS / 1000) + 901 + 800;
    assert!(matches!(left(&world, 11, late).await, PositionExpiry::Claimable { .. }));
    hold_for(&world, 1).await;
    is_expired(&world, 4).await;
}

/// The row of two has expired. The second has longer, because it has asked and found no seat.
async fn expire_two(world: &World) {
    world.open(RoomSettings { total_active_users: Some(0), ..RoomSettings::default() }).await;
    world.join(3, JoinMode::Queue).await;
    world.store.increment(&world.room, 2).await.unwrap();
    world.seconds(800);
    assert_eq!(world.claim(2, SessionKind::AwsStyle).await, ClaimOutcome::NoSeat);
    world.seconds(101);
    world.tick(1).await;
}

/// Nobody but Redis knew that the second had longer, because it had found no seat.
async fn who_asked_and_whose_row_has_expired_has_its_time_anew_after_a_loss(world: World) {
    expire_two(&world).await;
    assert_eq!(world.snapshot().await.expired_position, 2);
    lose(&world, &[service(world.store.clone(), "a").await]).await;
    for after_seconds in [0, 900] {
        world.seconds(after_seconds);
        let told = left(&world, 2, START_MS / 1000).await;
        assert_eq!(told, PositionExpiry::Claimable { seconds_left: 900 - after_seconds });
    }
    world.seconds(1);
    is_expired(&world, 1).await;
    is_expired(&world, 2).await;
}

async fn who_stood_at_the_door_when_the_room_was_held_has_its_time_anew(world: World) {
    expire_two(&world).await;
    is_expired(&world, 1).await;
    hold_for(&world, 2_000).await;
    is_expired(&world, 1).await;
    world.seconds(850);
    token(world.claim(2, SessionKind::AwsStyle).await);
}

/// An operator takes the counter back, and forward again.
async fn who_is_served_again_has_its_time_anew(world: World) {
    expire_three(&world).await;
    assert_eq!(world.snapshot().await.expired, 3);
    world.store.increment(&world.room, -2).await.unwrap();
    let snapshot = world.snapshot().await;
    assert_eq!((snapshot.expired_position, snapshot.expired), (1, 1));
    assert_eq!(snapshot.numbers_waiting(snapshot.progress()), 9, "two wait again");
    world.store.increment(&world.room, 2).await.unwrap();
    is_expired(&world, 1).await;
    token(world.claim(2, SessionKind::AwsStyle).await);
    world.seconds(901);
    world.tick(1).await;
    is_expired(&world, 3).await;
    let snapshot = world.snapshot().await;
    assert_eq!((snapshot.expired_position, snapshot.expired, snapshot.admitted), (3, 2, 1));
}

async fn of_those_who_have_entered_none_waits_again_when_the_counter_is_taken_back(world: World) {
    world.open(RoomSettings::default()).await;
    world.join(10, JoinMode::Queue).await;
    world.store.increment(&world.room, 3).await.unwrap();
    for number in [2, 3] {
        token(world.claim(number, SessionKind::AwsStyle).await);
    }
    world.seconds(901);
    world.tick(1).await;
    world.store.increment(&world.room, -2).await.unwrap();
    let snapshot = world.snapshot().await;
    assert_eq!((snapshot.expired_position, snapshot.expired, snapshot.admitted), (1, 1, 2));
}

async fn who_was_given_its_time_anew_keeps_it_when_the_room_is_held_again(world: World) {
    world.open(RoomSettings::default()).await;
    let now = START_MS / 1000;
    world.join(10, JoinMode::Queue).await;
    world.store.increment(&world.room, 3).await.unwrap();
    world.seconds(450);
    hold_for(&world, 700).await;
    world.seconds(200);
    world.tick(1).await;
    world.seconds(200);
    hold_for(&world, 200).await;
    let PositionExpiry::Claimable { seconds_left } = left(&world, 2, now).await else {
        panic!("its time began anew");
    };
    assert!(seconds_left > 890, "{seconds_left}");
    token(world.claim(2, SessionKind::AwsStyle).await);
}

async fn who_came_after_its_row_was_served_keeps_its_time_when_the_counter_is_taken_back(
    world: World,
) {
    world.open(RoomSettings::default()).await;
    world.store.increment(&world.room, 100).await.unwrap();
    world.seconds(1_000);
    let came = START_MS / 1000 + 1_000;
    world.join(3, JoinMode::Queue).await;
    world.seconds(400);
    world.store.increment(&world.room, -98).await.unwrap();
    world.tick(1).await;
    world.seconds(400);
    world.tick(1).await;
    assert!(matches!(left(&world, 2, came).await, PositionExpiry::Claimable { .. }));
    token(world.claim_entered(2, SessionKind::AwsStyle, came).await);
    world.seconds(1_000);
    world.tick(1).await;
    assert_eq!(left(&world, 1, came).await, PositionExpiry::Expired);
}

async fn no_position_expires_by_a_time_in_which_its_service_was_cut_off(world: World) {
    world.open(RoomSettings::default()).await;
    world.join(10, JoinMode::Queue).await;
    world.store.increment(&world.room, 3).await.unwrap();
    let now = START_MS / 1000;
    world.seconds(2_000);
    assert_eq!(left(&world, 2, now).await, PositionExpiry::Expired);
    assert_eq!(world.claim(3, SessionKind::Visitor).await, ClaimOutcome::PositionExpired);
    // It is heard again from now on: less than a second ago, by a clock of its own.
    let cut_off = world.another_store();
    cut_off.announce("admission-a", Announcement::OURS).await.unwrap();
    let mut back = world;
    back.store = cut_off;
    let PositionExpiry::Claimable { seconds_left } = left(&back, 2, now).await else {
        panic!("its time stood still");
    };
    assert!(seconds_left > 800, "{seconds_left}");
    token(back.claim(2, SessionKind::AwsStyle).await);
    token(back.claim(3, SessionKind::Visitor).await);
}

async fn positions_expire_while_the_counter_moves_several_times_a_second(world: World) {
    let short = RoomSettings { position_expiry_seconds: Some(20), ..RoomSettings::default() };
    world.open(short).await;
    world.join(200, JoinMode::Queue).await;
    for step in 0..160 {
        let tick = world.begin(1).await;
        let mut decision = decided(&tick.input);
        decision.plan.serving_counter = step + 1;
        world.apply(1, &tick, &decision).await;
        world.clock.advance_ms(250);
    }
    let expired = world.snapshot().await.expired_position;
    assert!((72..=80).contains(&expired), "{expired} were served over 20 of 40 seconds ago");
    assert!(rows(&world).await <= 42, "one a second");
}

async fn rows(world: &World) -> u64 {
    world.server.ask(redis::cmd("ZCARD").arg("vestibule:room:{sale}:rows")).await
}

async fn where_no_position_expires_one_row_stands_for_all(world: World) {
    let never = RoomSettings { position_expiry_seconds: None, ..RoomSettings::default() };
    world.open(never).await;
    world.join(200, JoinMode::Queue).await;
    for _ in 0..100 {
        world.store.increment(&world.room, 1).await.unwrap();
        world.seconds(2);
    }
    world.begin(1).await;
    assert_eq!(rows(&world).await, 1);
    world.put(RoomSettings::default()).await;
    world.seconds(800);
    let seconds_left = 900 - 802;
    let expected = PositionExpiry::Claimable { seconds_left };
    assert_eq!(left(&world, 1, START_MS / 1000).await, expected, "as if it was served last");
}

async fn rows_of_numbers_that_nobody_has_are_bounded(world: World) {
    world.open(RoomSettings::default()).await;
    for _ in 0..1_100 {
        world.store.increment(&world.room, 2).await.unwrap();
    }
    assert!(rows(&world).await <= 1_002);
    world.seconds(2_000);
    world.begin(1).await;
    let came = world.clock.now_ms() / 1000;
    world.join(2_150, JoinMode::Queue).await;
    world.seconds(900);
    for number in [1, 2_000, 2_150] {
        let expected = PositionExpiry::Claimable { seconds_left: 0 };
        assert_eq!(left(&world, number, came).await, expected, "{number} came after it was served");
    }
}
