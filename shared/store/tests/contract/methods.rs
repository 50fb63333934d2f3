//! Queueing methods as the scripts and the rules play them together, and the line after a detour.

use std::{collections::BTreeSet, sync::Arc};

use vestibule_domain::{QueueingMethod, RoomSettings, poll::WaiterState};
use vestibule_store::{Claim, ClaimOutcome, Departure, EndedAs, JoinMode, SessionKind};

use crate::{
    crowd::{Crowd, Habit},
    world::{Leader, START_MS, World, limited, patient, token},
};

crate::on_every_server!(
    passthrough_lets_everyone_in_over_both_limits_and_counts_them,
    the_ceiling_holds_again_at_once_after_passthrough,
    whoever_stayed_behind_in_passthrough_stands_where_it_stood,
    a_quiet_room_is_quiet_after_passthrough,
    increments_count_from_those_who_passed_through,
    whoever_only_took_a_number_in_passthrough_waits_after_it,
    reject_lets_nobody_in_and_keeps_every_place,
    after_reject_everyone_in_line_counts_as_there_for_a_minute,
    whoever_was_served_before_a_pause_of_the_room_may_still_enter,
    fifo_order_is_intact_after_a_detour_over_random,
    fifo_order_is_intact_after_every_other_detour,
    queue_all_goes_before_every_method,
    suspended_goes_before_queue_all,
    a_winner_enters_above_the_serving_counter_and_nobody_else_does,
    a_win_counts_no_longer_once_the_order_of_arrival_does,
    a_claim_that_does_not_know_of_a_draw_is_not_served,
    no_number_enters_twice_by_any_route,
);

/// Who is served at once when one of these small rooms opens again: for four seats, and as many who stand by
/// as seats came free together.
const AT_DOOR: usize = 12;

fn by(method: QueueingMethod, settings: RoomSettings) -> RoomSettings {
    RoomSettings { queueing_method: method, ..settings }
}

fn rated(ceiling: u64, rate: u64) -> RoomSettings {
    RoomSettings { new_users_per_minute: Some(rate), ..patient(ceiling) }
}

async fn passthrough_lets_everyone_in_over_both_limits_and_counts_them(world: World) {
    let settings = rated(5, 3);
    world.open(settings.clone()).await;
    assert_eq!(world.join(7, JoinMode::Enter).await.seated, 3);
    world.put(by(QueueingMethod::Passthrough, settings)).await;
    let joined = world.join(10, JoinMode::Enter).await;
    assert_eq!((joined.first, joined.seated, joined.serving_counter), (8, 10, 3));
    world.join(2, JoinMode::Queue).await;
    for number in [18, 19, 4] {
        token(world.claim(number, SessionKind::AwsStyle).await);
    }
    token(world.claims(world.claim_now(6).await).await);
    let mut leader = Leader::new(1);
    for _ in 0..3 {
        leader.tick(&world).await;
        let room = world.snapshot().await;
        assert_eq!((room.active, room.admitted, room.admitted_last_minute), (17, 17, 17));
        assert_eq!(room.serving_counter, 3, "the line behind does not move");
        assert_eq!(room.numbers_waiting(room.progress()), 2, "numbers 5 and 7");
        world.seconds(1);
    }
    let minute = START_MS / 60_000;
    let history = world.store.history(&world.room, minute, minute).await.unwrap();
    assert_eq!((history[&minute].admitted, history[&minute].arrivals["here"]), (17, 19));
}

async fn the_ceiling_holds_again_at_once_after_passthrough(world: World) {
    let settings = patient(5);
    world.open(by(QueueingMethod::Passthrough, settings.clone())).await;
    assert_eq!(world.join(20, JoinMode::Enter).await.seated, 20);
    world.put(settings.clone()).await;
    assert_eq!(world.join(3, JoinMode::Enter).await.seated, 0);
    world.store.increment(&world.room, 3).await.unwrap();
    world.ripens();
    assert_eq!(world.claims(world.claim_now(21).await).await, ClaimOutcome::NoSeat);
    let departures = |numbers: std::ops::RangeInclusive<u64>| {
        numbers
            .map(|number| Departure {
                number,
                ended_as: EndedAs::Completed,
                seat: vestibule_domain::SeatEnds::AtOnce,
            })
            .collect::<Vec<_>>()
    };
    let epoch = world.reset_epoch().await;
    world.store.leave(&world.room, epoch, &departures(1..=15)).await.unwrap();
    assert_eq!(
        world.claims(world.claim_now(21).await).await,
        ClaimOutcome::NoSeat,
        "five are inside"
    );
    world.store.leave(&world.room, epoch, &departures(16..=16)).await.unwrap();
    token(world.claims(world.claim_now(21).await).await);
    assert_eq!(world.claims(world.claim_now(22).await).await, ClaimOutcome::NoSeat);
    world.put(rated(5, 3)).await;
    world.store.leave(&world.room, epoch, &departures(17..=20)).await.unwrap();
    assert_eq!(
        world.claims(world.claim_now(22).await).await,
        ClaimOutcome::NoSeat,
        "21 in a minute"
    );
}

async fn whoever_stayed_behind_in_passthrough_stands_where_it_stood(world: World) {
    world.open(patient(2)).await;
    let mut crowd = Crowd::at(&world).await;
    crowd.join(&[Habit::OnTime; 12]).await;
    crowd.all_look().await;
    world.put(by(QueueingMethod::Passthrough, patient(2))).await;
    for number in [9, 4] {
        let claim = world.claim_now(number).await;
        token(world.claims(claim).await);
        crowd.closes_the_tab(number);
    }
    crowd.send().await;
    let joined = crowd.join(&[Habit::OnTime; 3]).await;
    assert_eq!((joined.first, joined.seated), (13, 3));
    world.put(patient(2)).await;
    crowd.join(&[Habit::OnTime; 2]).await;
    for number in [4, 9] {
        let departure = Departure {
            number,
            ended_as: EndedAs::Completed,
            seat: vestibule_domain::SeatEnds::AtOnce,
        };
        let epoch = crowd.room.reset_epoch;
        world.store.leave(&world.room, epoch, &[departure]).await.unwrap();
    }
    crowd.seconds(90).await;
    let entered = crowd.entered();
    assert_eq!(entered[..5], [1, 2, 13, 14, 15]);
    assert_eq!(entered.len(), 15);
    assert!(overtaken_by(&entered[5..]) <= 2, "{entered:?}");
}

async fn a_quiet_room_is_quiet_after_passthrough(world: World) {
    world.open(by(QueueingMethod::Passthrough, patient(5))).await;
    world.join(20, JoinMode::Enter).await;
    world.put(patient(30)).await;
    let joined = world.join(15, JoinMode::Enter).await;
    assert_eq!(joined.seated, 10, "nobody waits: the seats that are left are theirs");
}

/// A room that only its operator advances.
async fn increments_count_from_those_who_passed_through(world: World) {
    let own = RoomSettings { position_expiry_seconds: None, ..RoomSettings::default() };
    world.open(by(QueueingMethod::Passthrough, own.clone())).await;
    assert_eq!(world.join(10, JoinMode::Enter).await.seated, 10);
    world.put(own).await;
    world.join(5, JoinMode::Queue).await;
    assert_eq!(world.store.increment(&world.room, 3).await.unwrap(), 13);
    token(world.claim(13, SessionKind::AwsStyle).await);
    assert_eq!(world.claim(14, SessionKind::AwsStyle).await, ClaimOutcome::NotServed);
}

async fn whoever_only_took_a_number_in_passthrough_waits_after_it(world: World) {
    world.open(by(QueueingMethod::Passthrough, patient(5))).await;
    world.join(20, JoinMode::Queue).await;
    for number in [7, 19] {
        token(world.claim(number, SessionKind::AwsStyle).await);
    }
    world.put(patient(5)).await;
    let mut leader = Leader::new(1);
    leader.tick(&world).await;
    let served = world.snapshot().await.serving_counter;
    assert!((4..=7).contains(&served), "three seats and who stands by: {served}");
    assert_eq!(world.claim(12, SessionKind::AwsStyle).await, ClaimOutcome::NotServed);
    for _ in 0..40 {
        world.clock.advance_ms(250);
        leader.tick(&world).await;
    }
    // None of them comes, so the others may: no seat is kept for people of whom nobody knows.
    token(world.claim(12, SessionKind::AwsStyle).await);
}

async fn reject_lets_nobody_in_and_keeps_every_place(world: World) {
    let settings = patient(3);
    world.open(settings.clone()).await;
    let mut crowd = Crowd::at(&world).await;
    crowd.join(&[Habit::OnTime; 9]).await;
    crowd.seconds(3).await;
    let served = crowd.room.serving_counter;
    assert!(served > 3, "a standby group at the door");
    world.put(by(QueueingMethod::Reject, settings.clone())).await;
    crowd.quiet_seconds(16).await;
    assert_eq!(crowd.entered(), [1, 2, 3], "seats are free, and nobody enters");
    assert_eq!(world.snapshot().await.active, 0);
    for (number, won) in [(4, false), (4, true), (9, true)] {
        let claim = Claim { won, ..crowd.claim_of(number) };
        assert_eq!(world.claims(claim).await, ClaimOutcome::NoSeat);
    }
    assert_eq!(crowd.look(9).state, WaiterState::Rejected);
    assert_eq!(crowd.room.serving_counter, served);
    world.seconds(3_600);
    crowd.seconds(1).await;
    world.put(settings).await;
    // Half an hour is longer than the grace time: nobody is blamed.
    world.seconds(1);
    crowd.all_look().await;
    crowd.seconds(40).await;
    let entered = crowd.entered();
    assert_eq!(entered.len(), 9, "{entered:?}");
    assert!(overtaken_by(&entered) <= 3, "{entered:?}");
}

/// A line much longer than the seats are many, of people who come back when they please.
async fn after_reject_everyone_in_line_counts_as_there_for_a_minute(world: World) {
    let settings = patient(3);
    world.open(settings.clone()).await;
    let mut crowd = Crowd::at(&world).await;
    crowd.join(&[Habit::OnTime; 303]).await;
    crowd.seconds(3).await;
    world.put(by(QueueingMethod::Reject, settings.clone())).await;
    crowd.seconds(20).await;
    world.seconds(1_200);
    let silent = crowd.leader.tick(&world).await.input;
    assert!(silent.there.between(0, 303) < 0.5, "everyone has gone for now");
    world.put(settings).await;
    let reopened = world.clock.now_ms();
    assert_eq!(world.snapshot().await.excused_until_ms, reopened);
    crowd.leader.tick(&world).await;
    let waiting = world.snapshot().await.figures.waiting;
    assert_eq!(waiting, 300, "everyone who is not inside counts as there");
    for _ in 0..120 {
        world.clock.advance_ms(250);
        assert!(crowd.leader.tick(&world).await.is_gathering());
    }
    // Nobody has come back, so everybody may: whoever does first is not kept from the free seats.
    crowd.all_look().await;
    while world.clock.now_ms() < reopened + 62_000 {
        assert!(crowd.leader.tick(&world).await.is_gathering());
        crowd.step().await;
    }
    assert!(!crowd.leader.tick(&world).await.is_gathering());
    assert_eq!(crowd.line.len() + crowd.entries.len(), 303, "nobody has lost its place");
    let last = crowd.entered().into_iter().max().unwrap();
    assert!(last < 45, "{last} entered");
}

/// Its time to claim does not run while nobody can.
async fn whoever_was_served_before_a_pause_of_the_room_may_still_enter(world: World) {
    let short = RoomSettings { position_expiry_seconds: Some(60), ..limited(1) };
    let paused = [
        by(QueueingMethod::Reject, short.clone()),
        RoomSettings { queue_all: true, ..short.clone() },
    ];
    world.open(short.clone()).await;
    world.join(3, JoinMode::Enter).await;
    let joined = START_MS / 1000;
    let mut leader = Leader::new(1);
    leader.tick(&world).await;
    for settings in paused {
        world.put(settings).await;
        for _ in 0..60 {
            world.seconds(10);
            leader.tick(&world).await;
        }
        world.put(short.clone()).await;
        leader.tick(&world).await;
        let room = world.snapshot().await;
        assert_eq!((room.expired_position, room.expired), (0, 0));
    }
    token(world.claim_entered(2, SessionKind::Visitor, joined).await);
}

/// By how many places anyone who entered was overtaken.
fn overtaken_by(entered: &[u64]) -> usize {
    let mut order = entered.to_vec();
    order.sort_unstable();
    let place = |number: &u64| order.binary_search(number).unwrap();
    entered.iter().enumerate().map(|(nth, number)| nth.abs_diff(place(number))).max().unwrap()
}

/// Everyone is on time; the order of entry is that of arrival but for those who stand at the door
/// together. Who entered, and how many of them before the line was back in fifo.
async fn detour(world: &World, through: RoomSettings) -> (Vec<u64>, usize) {
    let settings = patient(4);
    world.open(settings.clone()).await;
    let mut crowd = Crowd::at(world).await;
    crowd.stay_ms = 4_000;
    crowd.join(&[Habit::OnTime; 60]).await;
    crowd.seconds(10).await;
    world.put(through).await;
    crowd.seconds(20).await;
    crowd.join(&[Habit::OnTime; 10]).await;
    let during = crowd.entries.len();
    world.put(settings).await;
    crowd.seconds(10).await;
    crowd.join(&[Habit::OnTime; 10]).await;
    crowd.seconds(120).await;
    assert_eq!(crowd.entries.len(), 80, "all got in");
    assert!(world.snapshot().await.active <= 4);
    (crowd.entered(), during)
}

async fn fifo_order_is_intact_after_a_detour_over_random(world: World) {
    let (entered, during) = detour(&world, by(QueueingMethod::Random, patient(4))).await;
    assert!(overtaken_by(&entered[..during]) > 5, "chance decided: {entered:?}");
    assert!(overtaken_by(&entered[during..]) <= AT_DOOR, "{during}: {entered:?}");
}

async fn fifo_order_is_intact_after_every_other_detour(world: World) {
    let held = RoomSettings { queue_all: true, ..patient(4) };
    let rejects = by(QueueingMethod::Reject, patient(4));
    for through in [held, rejects] {
        let (entered, _) = detour(&world, through).await;
        assert!(overtaken_by(&entered) <= AT_DOOR, "{entered:?}");
        world.store.delete_room(&world.room, None).await.unwrap();
    }
    let (entered, during) = detour(&world, by(QueueingMethod::Passthrough, patient(4))).await;
    assert_eq!(during, 70, "everyone who came got in");
    assert!(overtaken_by(&entered[during..]) <= AT_DOOR, "{entered:?}");
}

async fn queue_all_goes_before_every_method(world: World) {
    for method in QueueingMethod::ALL {
        let settings = RoomSettings { queue_all: true, ..patient(5) };
        world.open(by(method, settings)).await;
        let joined = world.join(3, JoinMode::Enter).await;
        assert_eq!(joined.seated, 0, "{method:?}");
        Leader::new(1).tick(&world).await;
        let won = Claim { won: true, ..world.claim_now(joined.first).await };
        assert_eq!(world.claims(won).await, ClaimOutcome::NoSeat, "{method:?}");
        let room = world.snapshot().await;
        assert_eq!((room.serving_counter, room.active), (0, 0), "{method:?}");
        assert!(room.is_held() && !room.rejects());
    }
}

async fn suspended_goes_before_queue_all(world: World) {
    let off = RoomSettings { queue_all: true, suspended: true, ..patient(1) };
    for method in QueueingMethod::ALL {
        world.open(by(method, off.clone())).await;
        let joined = world.join(3, JoinMode::Enter).await;
        assert!(joined.suspended, "{method:?}");
        let outcome = world.claims(world.claim_now(joined.first).await).await;
        assert!(matches!(outcome, ClaimOutcome::Uncounted(_)), "{outcome:?}");
        Leader::new(1).tick(&world).await;
        let room = world.snapshot().await;
        assert_eq!((room.serving_counter, room.active, room.admitted), (0, 0, 0), "{method:?}");
    }
}

async fn a_winner_enters_above_the_serving_counter_and_nobody_else_does(world: World) {
    world.open(by(QueueingMethod::Random, patient(2))).await;
    world.join(2, JoinMode::Enter).await;
    world.join(50, JoinMode::Enter).await;
    world.put(by(QueueingMethod::Random, patient(4))).await;
    let claim = |number| world.claim_now(number);
    assert_eq!(world.claims(claim(40).await).await, ClaimOutcome::NotServed);
    let won = |claim: Claim| Claim { won: true, ..claim };
    token(world.claims(won(claim(40).await)).await);
    token(world.claims(won(claim(7).await)).await);
    assert_eq!(world.claims(won(claim(8).await)).await, ClaimOutcome::NoSeat, "the ceiling holds");
    let room = world.snapshot().await;
    assert_eq!((room.active, room.serving_counter), (4, 2));
}

/// Instances repeat a claim that waits for a seat as it was first made.
async fn a_win_counts_no_longer_once_the_order_of_arrival_does(world: World) {
    let random = by(QueueingMethod::Random, patient(2));
    world.open(random.clone()).await;
    world.join(2, JoinMode::Enter).await;
    world.join(50, JoinMode::Enter).await;
    let won = |number, rank| {
        let claim = world.claim_now(number);
        async move { Claim { won: true, rank, held_ms: 2_000, ..claim.await } }
    };
    let (served, high) = (won(4, 1 << 40).await, won(40, 2 << 40).await);
    assert_eq!(world.claims(high.clone()).await, ClaimOutcome::NoSeat);
    assert_eq!(world.claims(served.clone()).await, ClaimOutcome::NoSeat);
    world.put(patient(2)).await;
    world.store.increment(&world.room, 2).await.unwrap();
    world.leave(1).await;
    world.ripens();
    assert_eq!(world.claims(high.clone()).await, ClaimOutcome::NotServed);
    let both = [served, world.claim_now(3).await];
    let outcomes = world.store.claim(&world.room, "k", &both).await.unwrap().outcomes;
    assert_eq!(outcomes[0], ClaimOutcome::NoSeat, "it stands where it came");
    token(outcomes[1].clone());
    world.put(random).await;
    world.leave(2).await;
    // The fourth asks no more.
    world.seconds(10);
    token(world.claims(high).await);
}

async fn a_claim_that_does_not_know_of_a_draw_is_not_served(world: World) {
    world.open(patient(9)).await;
    world.join(5, JoinMode::Queue).await;
    let known = world.claim_now(2).await;
    assert_eq!(world.claims(Claim { draws: 1, ..known.clone() }).await, ClaimOutcome::NotServed);
    assert_eq!(
        world.claims(Claim { position: None, ..known.clone() }).await,
        ClaimOutcome::NotServed
    );
    token(world.claims(known).await);
}

/// Numbers 1 to 300 try every route at once, over connections of their own.
async fn no_number_enters_twice_by_any_route(world: World) {
    world.open(by(QueueingMethod::Random, patient(30))).await;
    world.join(150, JoinMode::Enter).await;
    world.join(150, JoinMode::Queue).await;
    world.store.increment(&world.room, 40).await.unwrap();
    let world = Arc::new(world);
    let epoch = world.reset_epoch().await;
    let routes = (0..12_u64).map(|nth| {
        let world = Arc::clone(&world);
        tokio::spawn(async move {
            let store = world.another_store();
            let mut entered = Vec::new();
            for step in 0..300_u64 {
                let number = (step * 7 + nth) % 300 + 1;
                let kind = [SessionKind::Visitor, SessionKind::AwsStyle][(nth % 2) as usize];
                let claim = World::claim_of(number, kind, START_MS / 1000, epoch);
                let claim = Claim { won: nth % 3 == 0, ..claim };
                let outcome = store.claim(&world.room, "k", &[claim]).await.unwrap();
                if matches!(outcome.outcomes[0], ClaimOutcome::Entered(_)) {
                    entered.push(number);
                }
                // Seats come free again, so that whoever could enter twice would.
                if step % 5 == nth % 5 {
                    let departure = Departure {
                        number,
                        ended_as: EndedAs::Completed,
                        seat: vestibule_domain::SeatEnds::AtOnce,
                    };
                    store.leave(&world.room, epoch, &[departure]).await.unwrap();
                }
                if nth == 0 && step == 150 {
                    world.put(by(QueueingMethod::Passthrough, patient(30))).await;
                }
            }
            entered
        })
    });
    let mut numbers = BTreeSet::new();
    for route in routes.collect::<Vec<_>>() {
        for number in route.await.unwrap() {
            assert!(numbers.insert(number), "{number} entered twice");
        }
    }
    assert!(numbers.iter().all(|number| *number > 30), "those who joined into a seat are inside");
    assert_eq!(numbers.len(), 270, "in passthrough everyone got in");
    assert_eq!(world.snapshot().await.admitted, 300);
}
