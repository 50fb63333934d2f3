//! Held seats: one that is kept for a visitor who was called, until it comes.

use vestibule_domain::RoomSettings;
use vestibule_store::{
    Claim, ClaimOutcome, Departure, EndedAs, GivenUp, JoinMode, PositionExpiry, SessionKind,
};

use crate::world::{World, patient, token};

crate::on_every_server!(
    a_held_seat_is_for_its_visitor_and_for_nobody_else,
    a_place_is_given_one_hold,
    one_seat_of_twenty_is_held,
    a_room_of_few_seats_holds_none,
    whoever_may_not_hold_a_seat_keeps_nobody_from_it,
    whoever_may_not_hold_a_seat_does_not_expire_while_it_asks,
    a_hold_is_one_of_the_admissions_of_a_minute,
    two_pages_of_one_visitor_enter_once,
    whoever_gives_up_frees_the_seat_that_was_held,
    nobody_comes_in_while_the_operator_holds_the_room,
    nobody_comes_in_at_a_rate_of_zero,
    a_hold_grows_with_those_who_are_late_and_shrinks_with_those_who_come,
    holds_do_not_outlive_a_reset,
);

/// So many seats, all but `free` of which are taken, and a line of ten that has been served for long.
async fn open(world: &World, seats: u64, free: u64, settings: RoomSettings) {
    world.open(RoomSettings { total_active_users: Some(seats), ..settings }).await;
    world.join(seats + 10, JoinMode::Enter).await;
    world.store.increment(&world.room, 10).await.unwrap();
    let epoch = world.reset_epoch().await;
    for number in 1..=free {
        let departure = Departure {
            number,
            ended_as: EndedAs::Completed,
            seat: vestibule_domain::SeatEnds::AtOnce,
        };
        world.store.leave(&world.room, epoch, &[departure]).await.unwrap();
    }
    world.ripens();
}

fn fixed(seconds: u64) -> RoomSettings {
    RoomSettings { turn_hold_seconds: Some(seconds), ..patient(0) }
}

async fn calls(world: &World, numbers: &[u64], hold: bool) -> Vec<ClaimOutcome> {
    let mut claims = Vec::new();
    for number in numbers {
        claims.push(Claim { hold, ..world.claim_now(*number).await });
    }
    world.store.claim(&world.room, "k", &claims).await.unwrap().outcomes
}

async fn hold(world: &World, number: u64) -> ClaimOutcome {
    calls(world, &[number], true).await.remove(0)
}

async fn enter(world: &World, number: u64) -> ClaimOutcome {
    calls(world, &[number], false).await.remove(0)
}

async fn active(world: &World) -> u64 {
    world.snapshot().await.active
}

fn until(world: &World, seconds: u64) -> ClaimOutcome {
    ClaimOutcome::Held { until_ms: world.clock.now_ms() + seconds * 1000 }
}

async fn a_held_seat_is_for_its_visitor_and_for_nobody_else(world: World) {
    open(&world, 20, 1, fixed(15)).await;
    let held = until(&world, 15);
    assert_eq!(hold(&world, 21).await, held);
    assert_eq!(active(&world).await, 20, "a held seat is taken");
    assert_eq!(world.snapshot().await.admitted, 20, "and nobody has entered");
    assert_eq!(enter(&world, 22).await, ClaimOutcome::NoSeat);
    world.seconds(15);
    assert_eq!(hold(&world, 21).await, held, "to the last moment");
    let entered = token(enter(&world, 21).await);
    assert_eq!(entered.expires_at, entered.issued_at + 300);
    assert_eq!((active(&world).await, world.snapshot().await.admitted), (20, 21));
    assert_eq!(enter(&world, 21).await, ClaimOutcome::Repeated(entered));
}

async fn a_place_is_given_one_hold(world: World) {
    open(&world, 20, 1, fixed(15)).await;
    hold(&world, 21).await;
    world.clock.advance_ms(15_001);
    assert_eq!(active(&world).await, 19, "the seat is free again");
    assert_eq!(hold(&world, 21).await, ClaimOutcome::NoSeat);
    assert_eq!(hold(&world, 22).await, until(&world, 15), "the next one is called");
    assert_eq!(enter(&world, 21).await, ClaimOutcome::NoSeat);
    world.clock.advance_ms(15_001);
    token(enter(&world, 21).await);
}

async fn one_seat_of_twenty_is_held(world: World) {
    open(&world, 59, 10, fixed(60)).await;
    let held = until(&world, 60);
    let outcomes = calls(&world, &[62, 60, 61], true).await;
    assert_eq!(outcomes, [ClaimOutcome::NoSeat, held.clone(), held], "the first two in line");
    assert_eq!(hold(&world, 63).await, ClaimOutcome::NoSeat);
    world.seconds(30);
    token(enter(&world, 60).await);
    assert_eq!(hold(&world, 63).await, until(&world, 60), "one of them has come");
}

async fn a_room_of_few_seats_holds_none(world: World) {
    open(&world, 19, 5, fixed(60)).await;
    assert_eq!(hold(&world, 20).await, ClaimOutcome::NoSeat, "a twentieth of 19 is no seat");
    token(enter(&world, 20).await);
}

async fn whoever_may_not_hold_a_seat_keeps_nobody_from_it(world: World) {
    open(&world, 20, 2, fixed(60)).await;
    hold(&world, 21).await;
    assert_eq!(hold(&world, 22).await, ClaimOutcome::NoSeat);
    token(enter(&world, 23).await);
}

async fn whoever_may_not_hold_a_seat_does_not_expire_while_it_asks(world: World) {
    open(&world, 20, 1, RoomSettings { position_expiry_seconds: Some(900), ..fixed(15) }).await;
    hold(&world, 21).await;
    for _ in 0..4 {
        world.seconds(1700);
        assert_eq!(hold(&world, 21).await, ClaimOutcome::NoSeat, "a place is given one hold");
    }
    let since = world.clock.now_ms() / 1000 - 4 * 1700;
    let asking = World::claim_of(21, SessionKind::Visitor, since, world.reset_epoch().await);
    let told =
        world.store.position_expiry(&world.room, asking.reset_epoch, &asking.place, 21).await;
    assert_eq!(
        told.unwrap(),
        PositionExpiry::Expired,
        "its page says that the seat is held no more"
    );
    token(world.claim_entered(21, SessionKind::Visitor, since).await);
    let never_asked = world.claim_entered(22, SessionKind::Visitor, since).await;
    assert_eq!(never_asked, ClaimOutcome::PositionExpired);
}

async fn a_hold_is_one_of_the_admissions_of_a_minute(world: World) {
    let rate =
        RoomSettings { total_active_users: None, new_users_per_minute: Some(20), ..fixed(60) };
    world.open(rate).await;
    world.join(30, JoinMode::Enter).await;
    assert_eq!(world.snapshot().await.admitted, 20);
    world.store.increment(&world.room, 10).await.unwrap();
    world.seconds(61);
    assert_eq!(hold(&world, 21).await, until(&world, 60));
    let mut admitted = 0;
    for _ in 0..58 {
        world.seconds(1);
        for number in 22..=30 {
            admitted += u64::from(matches!(enter(&world, number).await, ClaimOutcome::Entered(_)));
        }
        world.join(1, JoinMode::Enter).await;
    }
    assert_eq!(admitted, 9, "all who were served");
    let most = world.snapshot().await.admitted_last_minute;
    assert!(most <= 19, "one is kept: {most}");
    token(enter(&world, 21).await);
    assert!(world.snapshot().await.admitted_last_minute <= 20);
}

async fn two_pages_of_one_visitor_enter_once(world: World) {
    open(&world, 20, 2, fixed(60)).await;
    let mut claims = Vec::new();
    for hold in [true, false, true, false] {
        claims.push(Claim { hold, ..world.claim_now(21).await });
    }
    let outcomes = world.store.claim(&world.room, "k", &claims).await.unwrap().outcomes;
    let entered = token(outcomes[1].clone());
    assert_eq!(outcomes[0], until(&world, 60));
    assert_eq!(
        outcomes[2..],
        [&entered, &entered].map(|token| ClaimOutcome::Repeated(token.clone()))
    );
    assert_eq!((active(&world).await, world.snapshot().await.admitted), (19, 21));
}

async fn whoever_gives_up_frees_the_seat_that_was_held(world: World) {
    open(&world, 20, 1, fixed(60)).await;
    hold(&world, 21).await;
    let place = GivenUp { number: 21, position: Some(21), network: None };
    let epoch = world.reset_epoch().await;
    world.store.give_up(&world.room, (epoch, 0), &[place]).await.unwrap();
    assert_eq!(active(&world).await, 19);
    token(enter(&world, 22).await);
}

async fn nobody_comes_in_while_the_operator_holds_the_room(world: World) {
    open(&world, 20, 1, fixed(60)).await;
    hold(&world, 21).await;
    let seats = RoomSettings { total_active_users: Some(20), ..fixed(60) };
    world.put(RoomSettings { queue_all: true, ..seats.clone() }).await;
    assert_eq!(enter(&world, 21).await, ClaimOutcome::NoSeat);
    world.put(seats).await;
    token(enter(&world, 21).await);
}

async fn nobody_comes_in_at_a_rate_of_zero(world: World) {
    open(&world, 20, 1, fixed(60)).await;
    hold(&world, 21).await;
    let seats = RoomSettings { total_active_users: Some(20), ..fixed(60) };
    world.put(RoomSettings { new_users_per_minute: Some(0), ..seats.clone() }).await;
    assert_eq!(enter(&world, 21).await, ClaimOutcome::NoSeat);
    world.put(seats).await;
    token(enter(&world, 21).await);
}

async fn a_hold_grows_with_those_who_are_late_and_shrinks_with_those_who_come(world: World) {
    open(&world, 40, 2, patient(0)).await;
    assert_eq!(hold(&world, 41).await, until(&world, 30), "before anything is learned");
    token(enter(&world, 41).await);
    world.clock.advance_ms(1);
    let held = hold(&world, 42).await;
    assert_eq!(held, ClaimOutcome::Held { until_ms: world.clock.now_ms() + 29_900 });
    world.seconds(40);
    token(enter(&world, 42).await);
    let longer = until(&world, 0);
    let ClaimOutcome::Held { until_ms } = longer else { unreachable!() };
    world.put(RoomSettings { total_active_users: Some(60), ..patient(0) }).await;
    assert_eq!(hold(&world, 43).await, ClaimOutcome::Held { until_ms: until_ms + 31_800 });
}

async fn holds_do_not_outlive_a_reset(world: World) {
    open(&world, 20, 1, fixed(60)).await;
    hold(&world, 21).await;
    world.store.reset(&world.room).await.unwrap();
    assert_eq!(active(&world).await, 0);
}
