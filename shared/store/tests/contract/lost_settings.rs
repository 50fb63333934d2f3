//! The store has lost a room's settings and nothing else: no script does half of its work, and the
//! leader puts the settings back.

use std::collections::BTreeMap;

use vestibule_domain::{RoomSnapshot, draw::Pool, reconciliation::Finding};
use vestibule_store::{JoinMode, Push, SessionKind, StoreError, Touch};

use crate::world::{World, decided, limited, testimony};

crate::on_every_server!(
    without_its_settings_a_room_is_missing_and_stays_as_it_is,
    lost_settings_come_back_and_the_line_goes_on,
    the_line_counts_for_whoever_is_silent,
);

type Line = BTreeMap<String, String>;

async fn line(world: &World) -> Line {
    world.server.ask(redis::cmd("HGETALL").arg("vestibule:room:{sale}:line")).await
}

/// A room with a line, which loses its settings; its last snapshot.
async fn without_settings(world: &World) -> RoomSnapshot {
    world.open(limited(3)).await;
    world.join(20, JoinMode::Enter).await;
    world.tick(1).await;
    let last = world.snapshot().await;
    world.server.ask::<()>(redis::cmd("DEL").arg("vestibule:room:{sale}:settings")).await;
    last
}

#[track_caller]
fn is_missing<T: std::fmt::Debug>(answer: &Result<T, StoreError>) {
    assert!(matches!(answer, Err(StoreError::RoomMissing)), "{answer:?}");
}

async fn without_its_settings_a_room_is_missing_and_stays_as_it_is(world: World) {
    world.open(limited(3)).await;
    let tick = world.begin(1).await;
    let last = without_settings(&world).await;
    let (before, keys) = (line(&world).await, world.server.keys().await);
    let (store, room, epoch) = (&world.store, &world.room, last.reset_epoch);
    let mut decision = decided(&tick.input);
    decision.plan.serving_counter = 15;

    is_missing(&world.try_join(2, JoinMode::Enter).await);
    is_missing(&world.try_join(2, JoinMode::Queue).await);
    let now_s = world.clock.now_ms() / 1000;
    let claim = World::claim_of(4, SessionKind::Visitor, now_s, epoch);
    is_missing(&store.claim(room, "k", std::slice::from_ref(&claim)).await);
    is_missing(&store.position_expiry(room, epoch, &claim.place, 4).await);
    let (issued_at, expires_at) = (now_s, now_s + 300);
    let touch = Touch { reset_epoch: epoch, issued_at, expires_at, ..World::touch_for(1) };
    is_missing(&store.touch(room, "k", "i", &[touch]).await);
    is_missing(&world.try_begin(2).await);
    is_missing(&store.apply_plan(room, 2, epoch, &tick.report, &decision, Push::Whole).await);
    is_missing(&store.draw(room, 2, &Pool::default(), None, None).await);
    is_missing(&store.increment(room, 5).await);
    is_missing(&store.reset(room).await);
    assert_eq!(store.read_snapshot(room).await.unwrap(), None);
    assert_eq!((line(&world).await, world.server.keys().await), (before, keys));
}

async fn lost_settings_come_back_and_the_line_goes_on(world: World) {
    world.open(limited(3)).await;
    let config = world.config().await;
    let last = without_settings(&world).await;
    let found = world.reconcile(&[testimony(&last)], &[], &config).await;
    assert!(matches!(found, Finding::IsBehind(_)), "{found:?}");
    assert_eq!(world.config().await, config);
    let back = world.snapshot().await;
    assert_eq!((back.queue_counter, back.admitted), (last.queue_counter, last.admitted));
    assert_eq!(back.settings, last.settings);
    assert_eq!(world.join(1, JoinMode::Enter).await.first, 21);
}

async fn the_line_counts_for_whoever_is_silent(world: World) {
    world.open(limited(3)).await;
    let (config, early) = (world.config().await, world.snapshot().await);
    let last = without_settings(&world).await;
    assert_eq!((early.admitted, last.admitted, last.queue_counter), (0, 3, 20));
    world.reconcile(&[testimony(&early)], &[], &config).await;
    let back = world.snapshot().await;
    assert_eq!(back.admitted, last.admitted);
    assert!(back.queue_counter >= last.queue_counter);
}
