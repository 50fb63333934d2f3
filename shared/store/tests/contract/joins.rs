//! Joining: numbers, and entering at once when nobody waits.

use std::collections::BTreeSet;

use vestibule_domain::{RoomSettings, SessionNote, reconciliation::UNSEEN_NUMBERS};
use vestibule_store::{Claim, ClaimOutcome, Join, JoinMode, SessionKind, StoreError, TokenRecord};

use crate::world::{Leader, World, limited, newcomers, people};

crate::on_every_server!(
    numbers_are_handed_out_once,
    nobody_is_queued_while_seats_are_free,
    who_entered_at_once_is_given_the_same_token_again,
    newcomers_do_not_pass_those_who_wait,
    newcomers_do_not_pass_those_at_the_door,
    newcomers_do_not_pass_those_who_were_just_served,
    newcomers_do_not_wait_for_those_who_have_come,
    aws_style_newcomers_are_promised_a_seat_each,
    a_room_without_limits_lets_nobody_in_by_itself,
    a_held_room_lets_nobody_in,
    a_suspended_room_lets_everyone_in_uncounted,
    newcomers_count_as_there_at_once,
    an_unknown_room_is_missing,
    a_call_that_is_sent_again_gets_its_first_answer,
    a_store_that_lost_its_last_writes_catches_up,
    what_was_seen_before_a_reset_lifts_no_number_after_it,
    without_a_leader_no_more_numbers_are_handed_out_than_another_one_leaves_out,
);

async fn without_a_leader_no_more_numbers_are_handed_out_than_another_one_leaves_out(world: World) {
    world.open(limited(1)).await;
    world.join(2, JoinMode::Enter).await;
    world.tick(1).await;
    // Many have joined since.
    let mut many = redis::cmd("HSET");
    many.arg("vestibule:room:{sale}:line").arg("queue_counter").arg(UNSEEN_NUMBERS + 1);
    world.server.ask::<()>(&many).await;
    assert_eq!(world.join(1, JoinMode::Queue).await.first, UNSEEN_NUMBERS + 2);
    for mode in [JoinMode::Queue, JoinMode::Enter] {
        let refused = world.try_join(1, mode).await;
        assert!(matches!(refused, Err(StoreError::Overloaded)), "{refused:?}");
    }
    world.tick(1).await;
    assert_eq!(world.join(1, JoinMode::Queue).await.first, UNSEEN_NUMBERS + 3, "none is lost");
}

async fn numbers_are_handed_out_once(world: World) {
    world.open(limited(10)).await;
    let world = std::sync::Arc::new(world);
    let joins = (1..=100_u64).map(|count| {
        let world = std::sync::Arc::clone(&world);
        tokio::spawn(async move {
            let joined = world.join(count, JoinMode::Queue).await;
            joined.first..joined.first + count
        })
    });
    let mut numbers = BTreeSet::new();
    for join in joins.collect::<Vec<_>>() {
        for number in join.await.unwrap() {
            assert!(numbers.insert(number), "{number} was handed out twice");
        }
    }
    assert!(numbers.iter().copied().eq(1..=5050));
}

async fn nobody_is_queued_while_seats_are_free(world: World) {
    world.open(limited(5)).await;
    let first = world.join(3, JoinMode::Enter).await;
    assert_eq!((first.first, first.seated, first.serving_counter), (1, 3, 3));
    let second = world.join(4, JoinMode::Enter).await;
    assert_eq!((second.seated, second.serving_counter), (2, 5), "two of four find a seat");
    assert_eq!(world.snapshot().await.active, 5);
}

async fn who_entered_at_once_is_given_the_same_token_again(world: World) {
    world.open(limited(1)).await;
    let joined = world.join(1, JoinMode::Enter).await;
    let again = world.claims(world.claim_now(1).await).await;
    let record = TokenRecord {
        issued_at: joined.issued_at,
        expires_at: joined.expires_at,
        key_id: "k".to_owned(),
        issuer: "https://issuer".to_owned(),
        note: SessionNote::default(),
    };
    assert_eq!(again, ClaimOutcome::Repeated(record));
}

async fn newcomers_do_not_pass_those_who_wait(world: World) {
    world.open(limited(1)).await;
    world.join(3, JoinMode::Enter).await;
    world.seconds(1000);
    assert_eq!(world.snapshot().await.active, 0, "the one inside has gone idle");
    let late = world.join(1, JoinMode::Enter).await;
    assert_eq!((late.seated, late.serving_counter), (0, 1), "two are waiting already");
}

async fn newcomers_do_not_pass_those_at_the_door(world: World) {
    world.open(limited(8)).await;
    assert_eq!(world.join(8, JoinMode::Enter).await.seated, 8);
    world.join(3, JoinMode::Queue).await;
    world.store.increment(&world.room, 3).await.unwrap();
    world.ripens();
    assert_eq!(seats(&world, &[9, 10, 11]).await, 0);
    // Seats are free, and the rate is spread evenly, since somebody waits.
    world.put(RoomSettings { new_users_per_minute: Some(30), ..limited(20) }).await;
    assert_eq!(seats(&world, &[9, 10, 11]).await, 2);
    let newcomer = world.join(1, JoinMode::Enter).await;
    assert_eq!((newcomer.first, newcomer.seated), (12, 0), "11 is before it");
    // One seat is free, and for 11.
    world.put(limited(11)).await;
    world.store.increment(&world.room, 1).await.unwrap();
    let newcomer = world.join(1, JoinMode::Enter).await;
    assert_eq!((newcomer.first, newcomer.seated), (13, 0));
    assert_eq!(seats(&world, &[11]).await, 1);
}

async fn newcomers_do_not_pass_those_who_were_just_served(world: World) {
    world.open(limited(1)).await;
    world.join(4, JoinMode::Enter).await;
    world.clock.advance_ms(1);
    world.store.increment(&world.room, 3).await.unwrap();
    let served_at = world.clock.now_ms().next_multiple_of(100);
    world.put(limited(4)).await;
    let newcomer = world.join(1, JoinMode::Enter).await;
    assert_eq!((newcomer.first, newcomer.seated), (5, 0), "three may come for three seats");
    world.put(limited(6)).await;
    world.store.increment(&world.room, 1).await.unwrap();
    assert_eq!(world.join(2, JoinMode::Enter).await.seated, 1, "four may come for five seats");
    world.store.increment(&world.room, 1).await.unwrap();
    world.at(served_at + 1_249);
    assert_eq!(world.join(1, JoinMode::Enter).await.seated, 0, "five for four");
    world.store.increment(&world.room, 1).await.unwrap();
    world.at(served_at + 1_250);
    assert_eq!(
        world.join(1, JoinMode::Enter).await.seated,
        1,
        "one for four: the others stay away"
    );
}

async fn newcomers_do_not_wait_for_those_who_have_come(world: World) {
    world.open(limited(1)).await;
    world.join(5, JoinMode::Enter).await;
    world.clock.advance_ms(1);
    world.store.increment(&world.room, 4).await.unwrap();
    world.put(limited(6)).await;
    assert_eq!(world.join(1, JoinMode::Enter).await.seated, 1, "four may come for five seats");
    assert_eq!(seats(&world, &[2, 3]).await, 2);
    assert_eq!(world.join(1, JoinMode::Enter).await.seated, 0, "two may come for two");
    world.store.increment(&world.room, 1).await.unwrap();
    world.put(limited(7)).await;
    assert_eq!(seats(&world, &[5]).await, 0, "4 may come");
    assert_eq!(world.join(1, JoinMode::Enter).await.seated, 0, "5 is here, 4 and 7 may come");
    world.put(limited(9)).await;
    assert_eq!(seats(&world, &[4, 5]).await, 2);
    world.store.increment(&world.room, 1).await.unwrap();
    assert_eq!(world.join(1, JoinMode::Enter).await.seated, 1, "7 and 8 may come for three");
}

/// How many of these find a seat, who ask together and go on asking.
async fn seats(world: &World, numbers: &[u64]) -> usize {
    let mut claims = Vec::new();
    for number in numbers {
        claims.push(Claim { held_ms: 5_000, ..world.claim_now(*number).await });
    }
    let replies = world.store.claim(&world.room, "k", &claims).await.unwrap();
    replies.outcomes.iter().filter(|outcome| matches!(outcome, ClaimOutcome::Entered(_))).count()
}

async fn aws_style_newcomers_are_promised_a_seat_each(world: World) {
    world.open(limited(5)).await;
    let mut leader = Leader::new(1);
    leader.tick(&world).await;
    let first = world.join(3, JoinMode::Queue).await;
    assert_eq!((first.seated, first.serving_counter), (0, 3));
    let second = world.join(9, JoinMode::Queue).await;
    assert_eq!(second.serving_counter, 5, "three seats were promised already");
    assert_eq!(world.snapshot().await.active, 0, "nobody has claimed yet");
    leader.tick(&world).await;
    let serving = world.snapshot().await.serving_counter;
    assert_eq!(serving, 6, "five promised seats and one in standby");
}

async fn a_room_without_limits_lets_nobody_in_by_itself(world: World) {
    world.open(RoomSettings::default()).await;
    assert_eq!(world.join(3, JoinMode::Enter).await.seated, 0);
    world.tick(1).await;
    assert_eq!(world.snapshot().await.serving_counter, 0);
    world.store.increment(&world.room, 10).await.unwrap();
    let served = world.join(2, JoinMode::Enter).await;
    assert_eq!(served.seated, 2, "the operator's increments had passed them already");
}

async fn a_held_room_lets_nobody_in(world: World) {
    world.open(RoomSettings { queue_all: true, ..limited(5) }).await;
    assert_eq!(world.join(3, JoinMode::Enter).await.seated, 0);
    world.tick(1).await;
    assert_eq!(world.snapshot().await.serving_counter, 0);
}

async fn a_suspended_room_lets_everyone_in_uncounted(world: World) {
    world.open(RoomSettings { suspended: true, ..limited(1) }).await;
    let joined = world.join(3, JoinMode::Enter).await;
    assert!(joined.suspended);
    assert_eq!(world.snapshot().await.active, 0);
    let outcome = world.claim(2, SessionKind::AwsStyle).await;
    assert!(matches!(outcome, vestibule_store::ClaimOutcome::Uncounted(_)), "{outcome:?}");
}

async fn newcomers_count_as_there_at_once(world: World) {
    world.open(limited(3)).await;
    let mut there = 0;
    for count in [1, 2, 40, 1, 700, 3, 9_000] {
        there += count - world.join(count, JoinMode::Enter).await.seated;
        let input = world.begin(1).await.input;
        assert_eq!(people(&input.there, 0, input.queue_counter), there);
    }
    world.join(50, JoinMode::Queue).await;
    let input = world.begin(1).await.input;
    assert_eq!(people(&input.there, 0, input.queue_counter), there, "of these nobody knows");
    assert_eq!((people(&input.unknown, 0, input.queue_counter), input.unattended), (50, 50));
    world.tick(1).await;
    assert_eq!(world.snapshot().await.serving_counter, 4, "nobody is taken for gone");
}

async fn an_unknown_room_is_missing(world: World) {
    let joined = world.try_join(1, JoinMode::Enter).await;
    assert!(matches!(joined, Err(StoreError::RoomMissing)), "{joined:?}");
    assert_eq!(world.server.keys().await, 0, "and nothing was made of it");
}

async fn a_store_that_lost_its_last_writes_catches_up(world: World) {
    world.open(limited(0)).await;
    world.join(10, JoinMode::Enter).await;
    // Somebody holds a number of which nobody has heard.
    assert_eq!(world.claim(25, SessionKind::Visitor).await, ClaimOutcome::NotServed);
    let joined = world.join(1, JoinMode::Enter).await;
    assert!(joined.first > 25, "{joined:?}");
    let snapshot = world.snapshot().await;
    assert_eq!(
        snapshot.numbers_waiting(snapshot.progress()),
        26,
        "skipped numbers wait for nothing"
    );
}

async fn what_was_seen_before_a_reset_lifts_no_number_after_it(world: World) {
    world.open(limited(0)).await;
    world.join(25, JoinMode::Enter).await;
    let other = world.another_store();
    assert!(other.read_snapshot(&world.room).await.unwrap().is_some());
    world.clock.advance_ms(1_000);
    world.store.reset(&world.room).await.unwrap();
    // The other service has not heard of it.
    let joins = async || other.join(&world.room, &newcomers("eu", 1, JoinMode::Enter)).await;
    assert_eq!(joins().await.unwrap().first, 1);
    assert_eq!(joins().await.unwrap().first, 2);
}

async fn a_call_that_is_sent_again_gets_its_first_answer(world: World) {
    world.open(limited(2)).await;
    let call = |call, again| Join { call, again, ..newcomers("eu", 5, JoinMode::Enter) };
    // Nobody writes down the answer that was lost.
    let lost = world.server.store(&world.clock);
    let first = lost.join(&world.room, &call("a", false)).await.unwrap();
    assert_eq!((first.first, first.seated), (1, 2));
    world.store.join(&world.room, &call("b", false)).await.unwrap();
    world.clock.advance_ms(700);
    let again = world.store.join(&world.room, &call("a", true)).await.unwrap();
    assert_eq!(again, first, "to the millisecond");
    let room = world.snapshot().await;
    assert_eq!((room.queue_counter, room.admitted), (10, 2));
    let never_came = world.store.join(&world.room, &call("c", true)).await.unwrap();
    assert_eq!(never_came.first, 11);
    let late = lost.join(&world.room, &call("c", false)).await.unwrap();
    assert_eq!(late, never_came, "the first one comes after the second");
    assert_eq!(world.snapshot().await.queue_counter, 15);
}
