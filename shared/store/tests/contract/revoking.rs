//! Operators revoke places in line: whoever had one never enters, and nobody else is changed.

use vestibule_domain::{SeatEnds, schedule::Event};
use vestibule_store::{
    ClaimOutcome, Ending, Feed, GivenUp, JoinMode, Revocation, Revoked, SessionKind,
};

use crate::{
    events::{event, moment},
    world::{World, limited},
};

crate::on_every_server!(
    who_waits_loses_its_place_for_good,
    who_is_at_the_door_leaves_its_seat_to_the_next,
    who_is_inside_loses_its_session,
    a_place_that_waits_for_its_draw_is_revoked,
    a_revocation_is_known_after_everything_was_lost,
    what_is_not_there_is_not_revoked,
);

async fn revoke(world: &World, number: u64) -> Revoked {
    revoke_at(world, number, Some(number)).await
}

pub(crate) async fn revoke_at(world: &World, number: u64, position: Option<u64>) -> Revoked {
    let snapshot = world.snapshot().await;
    let (reset_epoch, draws) = (snapshot.reset_epoch, snapshot.draws.len());
    let seat = SeatEnds::AtOnce;
    let revocation = Revocation { reset_epoch, number, position, draws, seat };
    world.store.revoke(&world.room, revocation).await.unwrap()
}

async fn who_waits_loses_its_place_for_good(world: World) {
    world.open(limited(1)).await;
    world.join(4, JoinMode::Enter).await;
    world.tick(1).await;
    assert_eq!(revoke(&world, 2).await, Revoked::Place);
    assert_eq!(revoke(&world, 2).await, Revoked::Again);
    let after = world.tick(1).await;
    assert_eq!((after.waiting(), world.snapshot().await.left), (2, 1), "it is ahead of nobody");
    world.leave(1).await;
    world.tick(1).await;
    world.ripens();
    assert_eq!(world.claims(world.claim_now(2).await).await, ClaimOutcome::SessionEnded);
    assert!(matches!(world.claims(world.claim_now(3).await).await, ClaimOutcome::Entered(_)));
    let given_up = GivenUp { number: 2, position: Some(2), network: None };
    let epoch = world.reset_epoch().await;
    let again = world.store.give_up(&world.room, (epoch, 0), &[given_up]).await.unwrap();
    assert_eq!(again, [false], "nor can it be given back");
}

async fn who_is_at_the_door_leaves_its_seat_to_the_next(world: World) {
    world.open(limited(1)).await;
    world.join(3, JoinMode::Enter).await;
    world.tick(1).await;
    world.ripens();
    for number in [2, 3] {
        let claim = world.claim_now(number).await;
        assert!(matches!(
            world.claims(claim).await,
            ClaimOutcome::NoSeat | ClaimOutcome::NotServed
        ));
    }
    assert_eq!(revoke(&world, 2).await, Revoked::Place);
    world.leave(1).await;
    assert!(matches!(world.claim_served(3).await, ClaimOutcome::Entered(_)));
    assert_eq!(world.snapshot().await.active, 1);
}

async fn who_is_inside_loses_its_session(world: World) {
    world.open(limited(1)).await;
    world.join(2, JoinMode::Enter).await;
    assert_eq!(revoke(&world, 1).await, Revoked::Session);
    assert_eq!(revoke(&world, 1).await, Revoked::None, "it is over");
    assert_eq!(world.snapshot().await.active, 0);
    assert!(matches!(world.claim_served(2).await, ClaimOutcome::Entered(_)));
}

async fn a_place_that_waits_for_its_draw_is_revoked(world: World) {
    let (draw_id, commitment) = ("d1".to_owned(), Some("ab".to_owned()));
    let prequeue_start = Some(moment(600));
    let sale =
        Event { prequeue_start, draw: true, draw_id, commitment, ..event("sale", 1_200, 3_600) };
    world.schedule(limited(9), &[sale]).await;
    world.at(moment(700) * 1000);
    world.join(3, JoinMode::Enter).await;
    assert_eq!(revoke_at(&world, 2, None).await, Revoked::Place);
    assert_eq!(revoke_at(&world, 2, None).await, Revoked::Again);
    assert_eq!(world.snapshot().await.left, 0, "its place comes with the draw");
}

async fn a_revocation_is_known_after_everything_was_lost(world: World) {
    world.open(limited(1)).await;
    world.join(3, JoinMode::Enter).await;
    world.tick(1).await;
    assert_eq!(revoke(&world, 2).await, Revoked::Place);
    let (told, config) = (crate::world::testimony(&world.snapshot().await), world.config().await);
    // As every service remembers that has heard of it.
    let ending = Ending::of_place(2, world.clock.now_ms() / 1000 + 86_400);
    world.server.flush().await;
    world.reconcile_with(&[told], &[], &config, (&[], &[ending])).await;
    assert_eq!(revoke(&world, 2).await, Revoked::Again);
    world.tick(2).await;
    let started_later = Feed::new(world.another_store(), "later".to_owned());
    started_later.refresh().await.unwrap();
    let known = started_later.room("sale").unwrap();
    started_later.refresh_config(&known).await.unwrap();
    let epoch = world.reset_epoch().await;
    assert_eq!([1, 2, 3].map(|number| known.was_revoked(epoch, number)), [false, true, false]);
    world.seconds(400);
    world.tick(2).await;
    world.ripens();
    assert_eq!(world.claims(world.claim_now(2).await).await, ClaimOutcome::SessionEnded);
}

async fn what_is_not_there_is_not_revoked(world: World) {
    world.open(limited(1)).await;
    world.join(2, JoinMode::Queue).await;
    for number in [0, 3] {
        assert_eq!(revoke(&world, number).await, Revoked::None);
    }
    let moved = Revocation {
        reset_epoch: world.reset_epoch().await,
        number: 2,
        position: Some(2),
        draws: 1,
        seat: SeatEnds::AtOnce,
    };
    assert_eq!(world.store.revoke(&world.room, moved).await.unwrap(), Revoked::Moved);
    let before = Revocation { reset_epoch: moved.reset_epoch - 1, draws: 0, ..moved };
    assert_eq!(world.store.revoke(&world.room, before).await.unwrap(), Revoked::None);
    assert_eq!(revoke(&world, 2).await, Revoked::Place, "of an AWS-style client, too");
    assert!(matches!(
        world.claim(2, SessionKind::AwsStyle).await,
        ClaimOutcome::SessionEnded | ClaimOutcome::NotServed
    ));
}
