//! What was done in a room for good is known to whoever starts later, and to whoever only hears of it: should Redis lose
//! it, somebody tells.

use std::{cell::OnceCell, time::Duration};

use anyhow::ensure;
use redis::cmd;
use vestibule_domain::inlet::AlarmState;
use vestibule_store::{Account, ClaimOutcome, Feed, JoinMode, PutOutcome, StoreError};
use vestibule_tests::eventually;

use crate::world::{World, limited};

crate::on_every_server!(
    who_starts_later_tells_what_was_done_before,
    calls_are_recalled_beside_many_marks_and_what_is_no_answer,
    a_room_that_begins_anew_keeps_nothing_of_the_people_of_before,
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

/// Marks of passes are listed for a week, and somebody has put something else in the place of an answer.
async fn calls_are_recalled_beside_many_marks_and_what_is_no_answer(world: World) {
    world.open(limited(5)).await;
    world.store.increment(&world.room, 1).await.unwrap();
    world.store.increment(&world.room, 1).await.unwrap();
    let calls_key = "vestibule:room:{sale}:calls";
    let listed: Vec<String> = world.server.ask(cmd("ZRANGE").arg(calls_key).arg(0).arg(-1)).await;
    let replaced = format!("{calls_key}:{}", listed[0]);
    world.server.ask::<()>(cmd("DEL").arg(&replaced)).await;
    world.server.ask::<()>(cmd("SADD").arg(&replaced).arg("x")).await;
    let mut marks = cmd("ZADD");
    marks.arg(calls_key);
    for minute in 0..3_000_u64 {
        marks.arg(world.clock.now_ms() + 7 * 86_400_000 + minute).arg(format!("spent:{minute}"));
    }
    world.server.ask::<()>(&marks).await;
    let later = Feed::new(world.another_store(), "later".to_owned());
    later.refresh().await.unwrap();
    assert_eq!(calls(&told_by(&world, &later, "later").await), ["increment"]);
}

/// Nothing of it is named by an epoch but the line, which alone was lost.
async fn a_room_that_begins_anew_keeps_nothing_of_the_people_of_before(mut world: World) {
    world.open(limited(5)).await;
    world.join(2, JoinMode::Enter).await;
    world.claims(world.claim_now(1).await).await;
    world.claims(world.claim_now(2).await).await;
    world.leave(2).await;
    let (config, store) = (world.config().await, world.another_store());
    world.server.ask::<()>(cmd("DEL").arg("vestibule:room:{sale}:line")).await;
    let called = store.call_witnesses(&world.room, 1, "round").await.unwrap();
    assert_eq!(called.config.as_ref(), Some(&config));
    assert!(called.created_epoch.is_some());
    store.end_round(&world.room).await.unwrap();
    world.seconds(1);
    assert_eq!(store.put_config(&world.room, &config).await.unwrap(), PutOutcome::Created);
    world.store = store;
    assert_eq!(world.snapshot().await.active, 0);
    world.join(2, JoinMode::Enter).await;
    for number in 1..=2 {
        let outcome = world.claims(world.claim_now(number).await).await;
        // Joining has seated it, as somebody new.
        let ClaimOutcome::Repeated(record) = outcome else { panic!("{number}: {outcome:?}") };
        assert_eq!(record.issued_at, world.clock.now_ms() / 1000, "{number}");
    }
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
