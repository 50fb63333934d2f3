//! What was done in a room for good is known to whoever starts later, and to whoever only hears of it: should Redis lose
//! it, somebody tells.

use std::{cell::OnceCell, time::Duration};

use anyhow::ensure;
use redis::cmd;
use vestibule_domain::inlet::AlarmState;
use vestibule_store::{Account, Feed, JoinMode, StoreError};
use vestibule_tests::eventually;

use crate::world::{World, limited};

crate::on_every_server!(
    who_starts_later_tells_what_was_done_before,
    whoever_is_there_hears_what_an_operators_call_was_answered,
    a_key_that_is_only_written_and_holds_something_else_is_removed_by_whoever_meets_it,
);

/// All that a service tells when it is asked.
async fn told_by(world: &World, feed: &Feed, name: &str) -> Account {
    world.store.call_witnesses(&world.room, 1, "round").await.unwrap();
    feed.testify(&world.room).await.unwrap();
    let account = world.store.accounts(&world.room).await.unwrap().remove(name).unwrap();
    world.store.whole(&world.room, account).await.unwrap().unwrap()
}

fn calls(account: &Account) -> Vec<&str> {
    account.calls.iter().map(|call| call.name.split(':').next().unwrap()).collect()
}

async fn who_starts_later_tells_what_was_done_before(world: World) {
    world.open(limited(5)).await;
    world.join(4, JoinMode::Enter).await;
    for number in 1..=4 {
        world.claims(world.claim_now(number).await).await;
    }
    world.leave(2).await;
    world.leave(3).await;
    world.store.increment(&world.room, 1).await.unwrap();
    let alarm = world.store.note_alarm(&world.room, AlarmState::Alarm, None).await.unwrap();
    let later = Feed::new(world.another_store(), "later".to_owned());
    later.refresh().await.unwrap();
    world.server.flush().await;
    let told = told_by(&world, &later, "later").await;
    let mut ended: Vec<_> = told.endings.iter().map(|one| (one.number, one.is_place)).collect();
    ended.sort_unstable();
    assert_eq!(ended, [(2, false), (3, false)]);
    assert_eq!((calls(&told), told.alarm), (vec!["increment"], Some(alarm)));
}

async fn whoever_is_there_hears_what_an_operators_call_was_answered(world: World) {
    world.open(limited(5)).await;
    let feed = Feed::new(world.another_store(), "service".to_owned());
    feed.refresh().await.unwrap();
    let known = feed.room("sale").unwrap();
    // What the counter was when an increment was heard of first: what was pushed with it has come once a later one has.
    let first = OnceCell::new();
    let hears = eventually(Duration::from_secs(20), "the push of a call", async || {
        world.store.increment(&world.room, 1).await?;
        let counter = known.snapshot().serving_counter;
        ensure!(counter > 0, "nothing was heard");
        ensure!(*first.get_or_init(|| counter) < counter, "only one was heard");
        Ok(())
    });
    tokio::select! {
        biased;
        () = feed.clone().run() => unreachable!("it runs until it is dropped"),
        done = hears => done.unwrap(),
    }
    let told = told_by(&world, &feed, "service").await;
    assert_eq!(calls(&told).first(), Some(&"increment"));
}

async fn a_key_that_is_only_written_and_holds_something_else_is_removed_by_whoever_meets_it(
    world: World,
) {
    world.open(limited(5)).await;
    for part in ["calls", "traffic"] {
        world.store.increment(&world.room, 1).await.unwrap();
        let key = format!("vestibule:room:{{sale}}:{part}");
        world.server.ask::<()>(cmd("DEL").arg(&key)).await;
        world.server.ask::<()>(cmd("SET").arg(&key).arg("x")).await;
        let met = match part {
            "calls" => world.store.increment(&world.room, 1).await.map(drop),
            _ => world.try_join(1, JoinMode::Enter).await.map(drop),
        };
        assert!(matches!(met, Err(StoreError::Rewound)), "{part}: {met:?}");
        let kind: String = world.server.ask(cmd("TYPE").arg(&key)).await;
        assert_ne!(kind, "string", "{part}");
    }
    world.join(1, JoinMode::Enter).await;
}
