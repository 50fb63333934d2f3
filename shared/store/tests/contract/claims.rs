//! Claiming: the hard gate.

use std::sync::Arc;

use vestibule_domain::RoomSettings;
use vestibule_store::{ClaimOutcome, ClaimReplies, Departure, EndedAs, JoinMode, SessionKind};

use crate::world::{START_MS, World, limited, token};

crate::on_every_server!(
    nobody_claims_a_seat_without_a_number,
    parallel_claims_of_one_id_give_one_session,
    the_ceiling_holds_under_parallel_claims,
    who_is_not_served_does_not_enter,
    a_number_enters_once,
    an_ended_session_stays_ended,
    ids_of_before_a_reset_are_foreign,
    private_validity_holds_for_the_first_token,
    nobody_enters_sooner_than_refused_claims_are_told,
);

async fn parallel_claims_of_one_id_give_one_session(world: World) {
    world.open(limited(10)).await;
    world.join(5, JoinMode::Queue).await;
    let epoch = world.reset_epoch().await;
    let world = Arc::new(world);
    let claims = (0..200).map(|_| {
        let world = Arc::clone(&world);
        tokio::spawn(async move {
            let claim = World::claim_of(3, SessionKind::AwsStyle, START_MS / 1000, epoch);
            world.store.claim(&world.room, "k", &[claim]).await.unwrap().outcomes.remove(0)
        })
    });
    let mut firsts = 0;
    let mut records = Vec::new();
    for claim in claims.collect::<Vec<_>>() {
        let outcome = claim.await.unwrap();
        firsts += usize::from(matches!(outcome, ClaimOutcome::Entered(_)));
        records.push(token(outcome));
    }
    assert_eq!(firsts, 1);
    assert!(records.windows(2).all(|pair| pair[0] == pair[1]));
    let snapshot = world.snapshot().await;
    assert_eq!((snapshot.active, snapshot.admitted), (1, 1));
}

async fn the_ceiling_holds_under_parallel_claims(world: World) {
    world.open(RoomSettings { position_expiry_seconds: None, ..limited(7) }).await;
    world.join(300, JoinMode::Queue).await;
    world.store.increment(&world.room, 300).await.unwrap();
    let world = Arc::new(world);
    let claims = (1..=300_u64).map(|number| {
        let world = Arc::clone(&world);
        tokio::spawn(async move {
            let outcome = world.claim(number, SessionKind::AwsStyle).await;
            let entered = matches!(outcome, ClaimOutcome::Entered(_));
            assert!(entered || outcome == ClaimOutcome::NoSeat, "{outcome:?}");
            // Every second one who entered leaves again, while others claim.
            if entered && number % 2 == 0 {
                let departure = Departure {
                    number,
                    ended_as: EndedAs::Completed,
                    seat: vestibule_domain::SeatEnds::AtOnce,
                };
                let epoch = world.reset_epoch().await;
                world.store.leave(&world.room, epoch, &[departure]).await.unwrap();
            }
            assert!(world.snapshot().await.active <= 7);
        })
    });
    for claim in claims.collect::<Vec<_>>() {
        claim.await.unwrap();
    }
    assert!(world.snapshot().await.admitted >= 7);
}

async fn who_is_not_served_does_not_enter(world: World) {
    world.open(limited(2)).await;
    world.join(9, JoinMode::Queue).await;
    assert_eq!(world.claim(3, SessionKind::AwsStyle).await, ClaimOutcome::NotServed);
    token(world.claim(2, SessionKind::AwsStyle).await);
}

async fn a_number_enters_once(world: World) {
    world.open(limited(5)).await;
    world.join(1, JoinMode::Enter).await;
    world.seconds(301);
    world.tick(1).await;
    assert_eq!(world.claim(1, SessionKind::Visitor).await, ClaimOutcome::SessionEnded);
    assert_eq!(world.snapshot().await.active, 0);
}

async fn an_ended_session_stays_ended(world: World) {
    world.open(limited(5)).await;
    world.join(2, JoinMode::Queue).await;
    let epoch = world.reset_epoch().await;
    let end =
        |ended_as| [Departure { number: 1, ended_as, seat: vestibule_domain::SeatEnds::AtOnce }];
    let untokened = world.store.leave(&world.room, epoch, &end(EndedAs::Abandoned)).await.unwrap();
    assert_eq!(untokened, [false], "no session yet");
    token(world.claim(1, SessionKind::AwsStyle).await);
    let ended = world.store.leave(&world.room, epoch, &end(EndedAs::Completed)).await.unwrap();
    assert_eq!(ended, [true]);
    let again = world.store.leave(&world.room, epoch, &end(EndedAs::Abandoned)).await.unwrap();
    assert_eq!(again, [false], "its status is set");
    assert_eq!(world.claim(1, SessionKind::AwsStyle).await, ClaimOutcome::SessionEnded);
    assert_eq!(world.snapshot().await.active, 0);
}

async fn ids_of_before_a_reset_are_foreign(world: World) {
    world.open(limited(5)).await;
    world.join(2, JoinMode::Queue).await;
    let before = world.reset_epoch().await;
    let after = world.store.reset(&world.room).await.unwrap();
    assert!(after > before);
    let claim = World::claim_of(1, SessionKind::AwsStyle, START_MS / 1000, before);
    let answer = world.store.claim(&world.room, "k", &[claim]).await.unwrap();
    assert_eq!(answer.outcomes, [ClaimOutcome::Foreign]);
    assert_eq!(world.join(1, JoinMode::Queue).await.first, 1);
}

async fn private_validity_holds_for_the_first_token(world: World) {
    world.open(limited(5)).await;
    world.join(1, JoinMode::Queue).await;
    let mut claim =
        World::claim_of(1, SessionKind::AwsStyle, START_MS / 1000, world.reset_epoch().await);
    claim.validity_seconds = Some(60);
    claim.issuer = "a|b \u{1F600}".into();
    let first = world.store.claim(&world.room, "k", &[claim]).await.unwrap().outcomes.remove(0);
    let first = token(first);
    assert_eq!(first.expires_at - first.issued_at, 60);
    assert_eq!(first.issuer, "a|b \u{1F600}");
    assert_eq!(token(world.claim(1, SessionKind::AwsStyle).await), first, "stored values win");
}

/// Of a visitor who was let in while the store was away.
async fn nobody_claims_a_seat_without_a_number(world: World) {
    world.open(limited(3)).await;
    for kind in [SessionKind::Visitor, SessionKind::AwsStyle] {
        assert_eq!(world.claim(0, kind).await, ClaimOutcome::Foreign);
    }
    let snapshot = world.snapshot().await;
    assert_eq!((snapshot.active, snapshot.expired), (0, 0));
}

async fn nobody_enters_sooner_than_refused_claims_are_told(world: World) {
    const LAST: u64 = 12;
    let settings = RoomSettings {
        session_duration_seconds: 30,
        position_expiry_seconds: None,
        new_users_per_minute: Some(4),
        ..limited(2)
    };
    world.open(settings).await;
    world.join(LAST, JoinMode::Queue).await;
    world.store.increment(&world.room, LAST.try_into().unwrap()).await.unwrap();
    let (mut number, mut tries) = (1, 0);
    while number <= LAST {
        let replies = claim_of(&world, number).await;
        if replies.outcomes != [ClaimOutcome::NoSeat] {
            token(replies.outcomes[0].clone());
            assert_eq!(replies.free_at_ms, None);
            number += 1;
            continue;
        }
        let free_at_ms = replies.free_at_ms.unwrap();
        assert!(free_at_ms > replies.now_ms, "{replies:?}");
        world.at(free_at_ms - 1);
        assert_eq!(claim_of(&world, number).await.outcomes, [ClaimOutcome::NoSeat]);
        world.at(free_at_ms);
        tries += 1;
    }
    // Twelve at four a minute; where the last 60 seconds decide, each bucket of 100 ms is told.
    assert!(tries < 1_000, "{tries}");
    let minutes = (world.clock.now_ms() - START_MS) / 60_000;
    assert!((2..=3).contains(&minutes), "{minutes}");
}

async fn claim_of(world: &World, number: u64) -> ClaimReplies {
    let claim = world.claim_now(number).await;
    world.store.claim(&world.room, "k", &[claim]).await.unwrap()
}
