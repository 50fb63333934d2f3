//! Integers cross the border to Lua with all their digits, and texts inside a document unchanged.

use vestibule_domain::{RoomSettings, reconciliation::Testimony};
use vestibule_store::{JoinMode, StoreError};

use crate::world::{START_MS, World, decided, limited, testimony};

/// The greatest integer that Lua holds exactly.
const MOST: i64 = 9_007_199_254_740_991;

crate::on_every_server!(
    counters_keep_every_digit,
    epochs_keep_every_digit,
    a_refusal_names_the_later_epoch,
    figures_come_back_as_they_were_sent,
);

async fn counters_keep_every_digit(world: World) {
    world.open(RoomSettings::default()).await;
    assert_eq!(world.store.increment(&world.room, MOST - 1).await.unwrap(), MOST - 1);
    assert_eq!(world.store.increment(&world.room, 1).await.unwrap(), MOST);
    assert_eq!(world.snapshot().await.serving_counter, MOST);
    let tick = world.tick(1).await;
    assert_eq!(tick.input.serving_counter, MOST.unsigned_abs());
    assert_eq!(world.join(1, JoinMode::Enter).await.serving_counter, MOST);
    assert_eq!(world.store.increment(&world.room, -2).await.unwrap(), MOST - 2);
    assert_eq!(world.store.increment(&world.room, i64::MIN).await.unwrap(), -MOST);
    assert_eq!(world.snapshot().await.serving_counter, -MOST);
}

async fn epochs_keep_every_digit(world: World) {
    world.open(limited(3)).await;
    assert_eq!(world.reset_epoch().await, START_MS);
    world.clock.advance_ms(1);
    assert_eq!(world.store.reset(&world.room).await.unwrap(), START_MS + 1);
    let (last, config) = (world.snapshot().await, world.config().await);
    let seen = Testimony { serving_counter: MOST - 4, admitted: 3, ..testimony(&last) };
    world.server.flush().await;
    world.reconcile(&[seen], &[], &config).await;
    let back = world.snapshot().await;
    assert_eq!((back.reset_epoch, back.serving_counter), (START_MS + 1, MOST - 4));
}

async fn a_refusal_names_the_later_epoch(world: World) {
    world.open(limited(3)).await;
    let later = MOST.unsigned_abs();
    world.tick(later).await;
    let refused = world.try_begin(later - 1).await;
    assert!(matches!(refused, Err(StoreError::Fenced { epoch }) if epoch == later), "{refused:?}");
}

async fn figures_come_back_as_they_were_sent(world: World) {
    world.open(limited(3)).await;
    let tick = world.begin(1).await;
    let mut decision = decided(&tick.input);
    decision.figures.waiting = MOST.unsigned_abs();
    decision.figures.ahead = Vec::new();
    world.apply(1, &tick, &decision).await;
    assert_eq!(world.snapshot().await.figures, decision.figures);
}
