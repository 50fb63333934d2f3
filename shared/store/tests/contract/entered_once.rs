//! After Redis has lost a room nobody enters a second time, however long ago the first time was: with a ticket of
//! before it entered, and whoever is left of those who saw it.

use std::collections::BTreeMap;

use vestibule_domain::{
    QueueingMethod, RoomSettings,
    presence::chunk::CHUNK_PLACES,
    reconciliation::{Evidence, Finding, Reconciliation, Testimony, UNSEEN_NUMBERS},
    schedule::Event,
};
use vestibule_store::{
    Account, Claim, ClaimOutcome, Feed, GivenUp, JoinMode, Round, SessionKind, Store,
};

use crate::{
    events::{event, moment},
    world::{World, limited, patient},
};

crate::on_every_server!(
    who_has_entered_and_left_does_not_enter_again_if_an_admission_remembers,
    who_has_entered_and_left_does_not_enter_again_if_only_a_controller_remembers,
    who_gave_up_and_who_comes_by_the_aws_style_calls_is_remembered,
    who_gave_up_is_remembered_by_whoever_was_told_so,
    who_gave_up_before_its_draw_is_remembered_by_whoever_was_told_so,
    of_before_a_reset_nothing_is_put_back,
    a_long_line_is_remembered_in_pieces,
);

/// A service with a memory of its own, which knows the room.
pub(crate) async fn service(store: Store, name: &str) -> Feed {
    let feed = Feed::new(store, name.to_owned());
    feed.refresh().await.unwrap();
    feed
}

/// Redis loses everything, and these services tell what they have seen.
pub(crate) async fn lose(world: &World, feeds: &[Feed]) -> Reconciliation {
    let config = world.config().await;
    world.server.flush().await;
    world.seconds(1);
    // Of somebody who has seen nothing.
    let store = world.another_store();
    let round = Round { room: &world.room, name: "r", epoch: 2 };
    store.call_witnesses(&world.room, 2, "r").await.unwrap();
    for feed in feeds {
        feed.testify(&world.room).await.unwrap();
    }
    let accounts = store.accounts(&world.room).await.unwrap();
    assert_eq!(accounts.len(), feeds.len());
    let to = found(&accounts);
    assert!(store.reconcile(round, &to, &config).await.unwrap());
    let epoch = to.latest.reset_epoch;
    for account in accounts.values().filter(|account| account.places_epoch == epoch) {
        store.restore_places(&world.room, epoch, &account.places).await.unwrap();
    }
    assert!(store.rebuild(round, epoch, &[], &[], |_| None).await.unwrap());
    assert!(store.reopen(round, Some(&to), &[]).await.unwrap());
    *to
}

fn found(accounts: &BTreeMap<String, Account>) -> Box<Reconciliation> {
    let told = accounts.values().filter_map(|account| account.testimony.clone());
    let testimonies: Vec<Testimony> = told.collect();
    let evidence = Evidence {
        stored: None,
        is_partial: false,
        testimonies: &testimonies,
        is_one_silent: false,
        is_one_gone: false,
        gap: UNSEEN_NUMBERS,
        unseen: None,
        buried: 0,
    };
    match evidence.find() {
        Finding::IsBehind(to) => to,
        found => panic!("{found:?}"),
    }
}

/// Some have entered: number 1 has left, the session of number 2 has expired, and number 3 is inside.
async fn some_have_entered(world: &World) {
    world.open(patient(2)).await;
    world.join(20, JoinMode::Enter).await;
    world.leave(1).await;
    world.seconds(301);
    assert!(matches!(world.claim_served(3).await, ClaimOutcome::Entered(_)));
    world.tick(1).await;
}

/// Whoever has entered is told so, and the others may enter.
async fn expect_nobody_twice(world: &World) {
    // Nobody is inside any more.
    world.seconds(302);
    for number in 1..=3 {
        let again = claim(world, number).await;
        assert_eq!(again, ClaimOutcome::SessionEnded, "{number} has entered before");
    }
    expect_entry(world, 4).await;
}

/// The leader of the term after the loss serves it, and it enters.
async fn expect_entry(world: &World, number: u64) {
    world.tick(2).await;
    world.ripens();
    let outcome = claim(world, number).await;
    assert!(matches!(outcome, ClaimOutcome::Entered(_)), "{outcome:?}");
}

async fn claim(world: &World, number: u64) -> ClaimOutcome {
    let claim = world.claim_now(number).await;
    world.claims(Claim { won: true, ..claim }).await
}

async fn who_has_entered_and_left_does_not_enter_again_if_an_admission_remembers(world: World) {
    some_have_entered(&world).await;
    let admission = service(world.store.clone(), "admission").await;
    lose(&world, &[admission]).await;
    expect_nobody_twice(&world).await;
}

async fn who_has_entered_and_left_does_not_enter_again_if_only_a_controller_remembers(
    world: World,
) {
    some_have_entered(&world).await;
    let store = world.another_store();
    let controller = service(store.clone(), "controller").await;
    store.remember_places(&world.room, 0).await.unwrap();
    lose(&world, &[controller]).await;
    expect_nobody_twice(&world).await;
}

async fn who_gave_up_and_who_comes_by_the_aws_style_calls_is_remembered(world: World) {
    let queueing_method = QueueingMethod::Random;
    world.open(RoomSettings { queueing_method, ..limited(0) }).await;
    world.join(10, JoinMode::Enter).await;
    world.join(5, JoinMode::Queue).await;
    world.join(10, JoinMode::Enter).await;
    let seen = (world.reset_epoch().await, 0);
    let place = GivenUp { number: 7, position: Some(7), network: None };
    assert_eq!(world.store.give_up(&world.room, seen, &[place]).await.unwrap(), [true]);
    let tick = world.tick(1).await;
    assert_eq!(tick.input.unattended, 5);
    let store = world.another_store();
    let controller = service(store.clone(), "controller").await;
    store.remember_places(&world.room, 0).await.unwrap();
    store.note_places_known(&world.room, seen.0, 25);
    let to = lose(&world, &[controller]).await;
    assert_eq!(to.unattended, None, "it is known of everybody");
    assert_eq!(world.tick(2).await.input.unattended, 5);
    assert_eq!(claim(&world, 7).await, ClaimOutcome::SessionEnded, "it gave up");
    assert_eq!(claim(&world, 8).await, ClaimOutcome::NoSeat);
}

async fn give_up(world: &World, number: u64, position: Option<u64>) -> Vec<bool> {
    let snapshot = world.snapshot().await;
    let seen = (snapshot.reset_epoch, snapshot.draws.len());
    let place = GivenUp { number, position, network: None };
    world.store.give_up(&world.room, seen, &[place]).await.unwrap()
}

/// Before any controller has read whose places are over.
async fn who_gave_up_is_remembered_by_whoever_was_told_so(world: World) {
    world.open(patient(1)).await;
    world.join(5, JoinMode::Enter).await;
    let elsewhere = world.another_store();
    assert_eq!(give_up(&world, 2, Some(2)).await, [true]);
    // The answer to the first call for it was lost.
    let epoch = world.reset_epoch().await;
    let place = GivenUp { number: 3, position: Some(3), network: None };
    assert_eq!(elsewhere.give_up(&world.room, (epoch, 0), &[place]).await.unwrap(), [true]);
    assert_eq!(give_up(&world, 3, Some(3)).await, [false]);
    let admission = service(world.store.clone(), "admission").await;
    lose(&world, &[admission]).await;
    world.seconds(302);
    for number in [2, 3] {
        assert_eq!(claim(&world, number).await, ClaimOutcome::SessionEnded, "{number}");
    }
    expect_entry(&world, 4).await;
}

async fn who_gave_up_before_its_draw_is_remembered_by_whoever_was_told_so(world: World) {
    let prequeue_start = Some(moment(600));
    let (draw_id, commitment) = ("d1".to_owned(), Some("ab".to_owned()));
    let sale =
        Event { prequeue_start, draw: true, draw_id, commitment, ..event("sale", 1_200, 3_600) };
    world.schedule(limited(1), &[sale]).await;
    world.at(moment(700) * 1000);
    world.join(3, JoinMode::Enter).await;
    assert_eq!(give_up(&world, 2, None).await, [true]);
    let admission = service(world.store.clone(), "admission").await;
    lose(&world, &[admission]).await;
    assert_eq!(give_up(&world, 2, None).await, [false], "it has left the pool");
    assert_eq!(give_up(&world, 3, None).await, [true]);
}

async fn of_before_a_reset_nothing_is_put_back(world: World) {
    some_have_entered(&world).await;
    let store = world.another_store();
    store.remember_places(&world.room, 0).await.unwrap();
    world.store.reset(&world.room).await.unwrap();
    world.join(20, JoinMode::Queue).await;
    let controller = service(store, "controller").await;
    lose(&world, &[controller]).await;
    world.seconds(302);
    expect_entry(&world, 1).await;
}

async fn a_long_line_is_remembered_in_pieces(world: World) {
    world.open(patient(2)).await;
    world.join(2 * CHUNK_PLACES, JoinMode::Queue).await;
    world.store.increment(&world.room, i64::try_from(2 * CHUNK_PLACES).unwrap()).await.unwrap();
    world.ripens();
    let far = CHUNK_PLACES + 77;
    let entered = world.claim(far, SessionKind::AwsStyle).await;
    assert!(matches!(entered, ClaimOutcome::Entered(_)), "{entered:?}");
    let store = world.another_store();
    let controller = service(store.clone(), "controller").await;
    for chunk in 0..3 {
        store.remember_places(&world.room, chunk).await.unwrap();
    }
    let admission = service(world.store.clone(), "admission").await;
    lose(&world, &[controller, admission]).await;
    world.seconds(3_700);
    assert_eq!(claim(&world, far).await, ClaimOutcome::SessionEnded);
    assert_ne!(claim(&world, far - 1).await, ClaimOutcome::SessionEnded);
}
