//! One leader at a time, and a stale one changes nothing. Who serves with it is in `members.rs`.

use std::time::Duration;

use vestibule_store::{JoinMode, Push, StoreError, known_schema};
use vestibule_tests::eventually;

use crate::{
    members::{FIRST, STEP, of_b},
    world::{World, decided, limited},
};

const LONG: Duration = Duration::from_mins(1);
const LEASE: &str = "vestibule:{deployment}:lease";
const ROUTES: &str = "vestibule:{deployment}:routes";
const EPOCH: &str = "vestibule:{deployment}:epoch";

crate::on_every_server!(
    the_lease_has_one_holder_and_rising_epochs,
    a_lease_that_is_not_renewed_passes_on,
    a_term_that_redis_has_forgotten_is_not_gone_on_with,
    a_lease_that_lasts_longer_than_it_was_given_for_has_lapsed,
    whoever_asks_for_less_time_does_not_end_a_longer_lease,
    a_lease_of_a_release_that_notes_no_length_is_left_alone,
    a_change_of_routes_ends_when_another_has_begun_though_that_is_over,
    a_stale_leader_is_refused,
    the_serving_counter_never_goes_back,
    migrations_run_once_and_newer_keyspaces_are_refused,
);

async fn the_lease_has_one_holder_and_rising_epochs(world: World) {
    let store = &world.store;
    let first = store.lease("a", LONG, 0).await.unwrap().unwrap();
    assert_eq!(first, FIRST);
    assert_eq!(store.lease("a", LONG, first).await.unwrap(), Some(first), "a renewal");
    assert_eq!(store.lease("b", LONG, 0).await.unwrap(), None);
    assert_eq!(store.leader().await.unwrap().as_deref(), Some("a"));
    store.release_lease("b").await.unwrap();
    assert_eq!(store.leader().await.unwrap().as_deref(), Some("a"), "not b's to release");
    store.release_lease("a").await.unwrap();
    let second = store.lease("b", LONG, 0).await.unwrap().unwrap();
    assert!(second > first);
    world.server.flush().await;
    let third = store.lease("a", LONG, second).await.unwrap().unwrap();
    assert!(third > second, "also when the store has forgotten");
}

async fn a_lease_that_is_not_renewed_passes_on(world: World) {
    let store = world.store.clone();
    store.lease("a", Duration::from_millis(50), 0).await.unwrap().unwrap();
    let passed = eventually(Duration::from_secs(20), "the lease passes on", || async {
        store.lease("b", LONG, 0).await?.ok_or_else(|| anyhow::anyhow!("a still leads"))
    });
    assert_eq!(passed.await.unwrap(), of_b(2));
}

async fn a_change_of_routes_ends_when_another_has_begun_though_that_is_over(world: World) {
    let store = &world.store;
    let lapse = async || world.server.ask::<()>(redis::cmd("DEL").arg(ROUTES)).await;
    let first = store.begin_routes("slow").await.unwrap().unwrap();
    assert_eq!(store.begin_routes("fast").await.unwrap(), None);
    assert_eq!(store.keep_routes("slow", first).await.unwrap(), Some(first));
    lapse().await;
    let second = store.keep_routes("slow", first).await.unwrap();
    assert!(second.is_some_and(|second| second != first), "nobody has compared anything since");
    lapse().await;
    store.begin_routes("fast").await.unwrap().unwrap();
    assert_eq!(store.keep_routes("slow", second.unwrap()).await.unwrap(), None, "it goes on");
    store.end_routes("fast").await.unwrap();
    assert_eq!(store.keep_routes("slow", second.unwrap()).await.unwrap(), None, "it is over");
}

/// The lease is still there, or again, with an earlier epoch than the one that its holder led in.
async fn a_term_that_redis_has_forgotten_is_not_gone_on_with(world: World) {
    let store = &world.store;
    let first = store.lease("a", LONG, 0).await.unwrap().unwrap();
    world.server.ask::<()>(redis::cmd("SET").arg(EPOCH).arg(first + 7)).await;
    let second = store.lease("a", LONG, first + 7).await.unwrap();
    assert_eq!(second, Some(first + STEP), "another term");
    world.server.ask::<()>(redis::cmd("SET").arg(EPOCH).arg(first)).await;
    let third = store.lease("a", LONG, first + STEP).await.unwrap();
    assert_eq!(third, Some(first + 2 * STEP), "above all that it knows of");
    assert_eq!(store.lease("a", LONG, first + 2 * STEP).await.unwrap(), third, "a renewal");
    store.release_lease("a").await.unwrap();
    assert_eq!(store.lease("b", LONG, 0).await.unwrap(), Some(of_b(4)));
}

/// The server's clock was set back by an hour since.
async fn a_lease_that_lasts_longer_than_it_was_given_for_has_lapsed(world: World) {
    let store = &world.store;
    let first = store.lease("a", LONG, 0).await.unwrap().unwrap();
    world.server.ask::<()>(redis::cmd("PEXPIRE").arg(LEASE).arg(3_660_000)).await;
    let second = store.lease("b", LONG, 0).await.unwrap();
    assert_eq!(second, Some(of_b(2)));
    assert_eq!(store.lease("a", LONG, first).await.unwrap(), None);
    world.server.ask::<()>(redis::cmd("PEXPIRE").arg(LEASE).arg(3_660_000)).await;
    assert_eq!(store.lease("b", LONG, of_b(2)).await.unwrap(), Some(of_b(3)), "another term");
}

async fn whoever_asks_for_less_time_does_not_end_a_longer_lease(world: World) {
    world.store.lease("restore", LONG, 0).await.unwrap().unwrap();
    assert_eq!(world.store.lease("b", Duration::from_secs(2), 0).await.unwrap(), None);
}

async fn a_lease_of_a_release_that_notes_no_length_is_left_alone(world: World) {
    let mut set = redis::cmd("SET");
    world.server.ask::<()>(set.arg(LEASE).arg("a").arg("PX").arg(3_660_000)).await;
    assert_eq!(world.store.lease("b", LONG, 0).await.unwrap(), None);
}

async fn a_stale_leader_is_refused(world: World) {
    world.open(limited(5)).await;
    world.join(50, JoinMode::Enter).await;
    let tick = world.tick(7).await;
    world.tick(8).await;
    let room = &world.room;
    let begun = world.try_begin(7).await;
    assert!(matches!(begun, Err(StoreError::Fenced { .. })), "{begun:?}");
    let mut decision = decided(&tick.input);
    decision.plan.serving_counter = 40;
    let epoch = world.reset_epoch().await;
    let apply = world.store.apply_plan(room, 7, epoch, &tick.report, &decision, Push::Difference);
    let advanced = apply.await;
    assert!(matches!(advanced, Err(StoreError::Fenced { .. })), "{advanced:?}");
    let rolled = world.store.roll_up(room, 7, 0, 0).await;
    assert!(matches!(rolled, Err(StoreError::Fenced { .. })), "{rolled:?}");
    assert!(world.snapshot().await.serving_counter < 40);
}

async fn the_serving_counter_never_goes_back(world: World) {
    world.open(limited(5)).await;
    world.join(50, JoinMode::Enter).await;
    let tick = world.tick(1).await;
    world.store.increment(&world.room, 20).await.unwrap();
    let before = world.snapshot().await.serving_counter;
    let late = world.apply(1, &tick, &decided(&tick.input)).await;
    assert_eq!(late, before, "a plan from before the increment");
}

async fn migrations_run_once_and_newer_keyspaces_are_refused(world: World) {
    assert_eq!(world.store.schema().await.unwrap(), 0);
    assert_eq!(world.store.migrate().await.unwrap(), ["stamp"]);
    assert_eq!(world.store.migrate().await.unwrap(), [""; 0]);
    assert_eq!(world.store.schema().await.unwrap(), known_schema());
    let newer = known_schema() + 1;
    let key = "vestibule:{deployment}:schema";
    world.server.ask::<()>(redis::cmd("SET").arg(key).arg(newer)).await;
    let refused = world.store.check_schema().await;
    assert!(matches!(refused, Err(StoreError::NewerSchema { found, .. }) if found == newer));
}
