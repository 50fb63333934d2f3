//! Minutes close into the history, once.

use vestibule_domain::ledger::Figure;
use vestibule_store::{JoinMode, RolledUp, StoreError};

use crate::world::{START_MS, World, limited};

crate::on_every_server!(
    minutes_close_once_and_keep_their_counts,
    old_minutes_expire_before_the_ledger,
    what_is_new_is_read_by_itself,
    what_was_lost_is_put_back_once,
    minutes_of_long_ago_are_found_and_closed,
    where_a_day_holds_something_else_nothing_moves,
);

async fn minutes_close_once_and_keep_their_counts(world: World) {
    world.open(limited(3)).await;
    let minute = START_MS / 60_000;
    world.join(5, JoinMode::Enter).await;
    world.seconds(60);
    world.join(2, JoinMode::Enter).await;
    let before = world.store.history(&world.room, minute, minute + 9).await.unwrap();
    assert_eq!(before[&minute].arrivals["here"], 5);
    assert_eq!(before[&minute].admitted, 3);
    assert_eq!(before[&(minute + 1)].arrivals["here"], 2, "the minute under way is there too");
    let day = minute / 1440;
    let rolled = world.store.roll_up(&world.room, 1, day, minute).await.unwrap();
    assert_eq!(rolled, RolledUp { moved: 3, open: 1, oldest: Some(minute + 1) });
    let again = world.store.roll_up(&world.room, 1, day, minute).await.unwrap();
    assert_eq!(again, RolledUp { moved: 0, open: 1, oldest: Some(minute + 1) });
    assert_eq!(world.store.history(&world.room, minute, minute + 9).await.unwrap(), before);
    let only = world.store.history(&world.room, minute + 1, minute + 1).await.unwrap();
    assert_eq!(only.len(), 1);
}

async fn old_minutes_expire_before_the_ledger(world: World) {
    world.open(limited(3)).await;
    world.join(1, JoinMode::Enter).await;
    let minute = START_MS / 60_000;
    world.store.roll_up(&world.room, 1, minute / 1440, minute).await.unwrap();
    for (kept, days) in [("history", 2), ("minutes", 2), ("ledger", 31)] {
        expires_after(&world, kept, days).await;
    }
}

async fn expires_after(world: &World, kept: &str, days: i64) {
    let key = format!("vestibule:room:{{sale}}:{kept}:{}", START_MS / 86_400_000);
    let seconds: i64 = world.server.ask(redis::cmd("TTL").arg(key)).await;
    assert!((days * 86_400 - 60..=days * 86_400).contains(&seconds), "{kept}: {seconds}");
}

/// What is read of some minutes, by itself and beside the rest.
async fn what_is_new_is_read_by_itself(world: World) {
    world.open(limited(3)).await;
    let (minute, regions) = (START_MS / 60_000, ["here".to_owned()]);
    world.join(5, JoinMode::Enter).await;
    world.seconds(60);
    world.join(2, JoinMode::Enter).await;
    let read = async |from, to| world.store.read_traffic(&world.room, from..=to, &regions).await;
    let all = world.store.history(&world.room, minute, minute + 9).await.unwrap();
    let open = read(minute, minute + 1).await.unwrap();
    assert_eq!((&open.minutes, open.open), (&all, Some(minute)));
    let midnight = (minute / 1440 + 1) * 1440;
    for day in [minute / 1440, minute / 1440 + 1] {
        world.store.roll_up(&world.room, 1, day, minute).await.unwrap();
    }
    let closed = read(minute, minute + 1).await.unwrap();
    assert_eq!((&closed.minutes, closed.open), (&all, Some(minute + 1)));
    assert_eq!(read(minute + 1, minute + 1).await.unwrap().minutes.len(), 1);
    // Over the end of a day.
    world.at(midnight * 60_000 - 1);
    world.join(4, JoinMode::Queue).await;
    world.seconds(1);
    world.join(6, JoinMode::Queue).await;
    let both = read(midnight - 1, midnight).await.unwrap();
    let counts: Vec<_> = both.minutes.values().map(|minute| minute.arrivals["here"]).collect();
    assert_eq!((counts, both.open), (vec![4, 6], Some(minute + 1)));
}

async fn what_was_lost_is_put_back_once(world: World) {
    world.open(limited(3)).await;
    let minute = START_MS / 60_000;
    world.join(5, JoinMode::Enter).await;
    world.seconds(60);
    world.join(2, JoinMode::Enter).await;
    let day = minute / 1440;
    world.store.roll_up(&world.room, 1, day, minute).await.unwrap();
    let read = async || world.store.history(&world.room, minute, minute + 9).await.unwrap();
    let seen = read().await;
    assert_eq!(world.store.restore_traffic(&world.room, &seen).await.unwrap(), 0, "all is there");

    let (told, config) = (crate::world::testimony(&world.snapshot().await), world.config().await);
    world.server.flush().await;
    world.reconcile(&[told], &[], &config).await;
    assert!(read().await.is_empty());
    assert_eq!(world.store.restore_traffic(&world.room, &seen).await.unwrap(), 4);
    assert_eq!(world.store.restore_traffic(&world.room, &seen).await.unwrap(), 0, "once");
    assert_eq!(read().await, seen);
    // The minute under way goes on, and is closed as a whole.
    world.join(7, JoinMode::Enter).await;
    assert_eq!(world.store.restore_traffic(&world.room, &seen).await.unwrap(), 0);
    assert_eq!(read().await[&(minute + 1)].arrivals["here"], 9);
    world.store.roll_up(&world.room, 2, day, minute + 1).await.unwrap();
    assert_eq!(read().await[&(minute + 1)].arrivals["here"], 9);
    expires_after(&world, "history", 2).await;
}

/// Nobody has closed any for days.
async fn minutes_of_long_ago_are_found_and_closed(world: World) {
    world.open(limited(3)).await;
    let first = START_MS / 60_000;
    let told = [(Figure::Told(2), 4)];
    // Of one more minute nothing but a figure is open.
    world.store.note_counts(&world.room, first - 1, told).await.unwrap();
    world.join(5, JoinMode::Enter).await;
    world.seconds(5 * 86_400);
    world.join(1, JoinMode::Queue).await;
    let (now, all) = (world.clock.now_ms() / 60_000, u64::MAX);
    let open = world.store.history(&world.room, 0, all).await.unwrap();
    let close = async |day| world.store.roll_up(&world.room, 1, day, now).await.unwrap();
    let yesterday = close(now / 1440 - 1).await;
    assert_eq!((yesterday.moved, yesterday.oldest), (0, Some(first - 1)));
    let then = close(first / 1440).await;
    assert_eq!((then.open, then.oldest), (1, Some(now)));
    assert_eq!(close(now / 1440).await, RolledUp { moved: 1, open: 0, oldest: None });
    assert_eq!(world.store.history(&world.room, 0, all).await.unwrap(), open);
}

/// Once the key is removed, everybody counts once.
async fn where_a_day_holds_something_else_nothing_moves(world: World) {
    world.open(limited(3)).await;
    let (minute, day) = (START_MS / 60_000, START_MS / 86_400_000);
    world.join(5, JoinMode::Enter).await;
    let open = world.store.history(&world.room, 0, u64::MAX).await.unwrap();
    let close = async || world.store.roll_up(&world.room, 1, day, minute).await;
    for name in ["history", "minutes", "ledger"] {
        let key = format!("vestibule:room:{{sale}}:{name}:{day}");
        world.server.ask::<()>(redis::cmd("SADD").arg(key).arg("x")).await;
        let closed = close().await;
        assert!(matches!(closed, Err(StoreError::Rewound)), "{name}: {closed:?}");
        assert!(
            !world.store.remove_foreign(&world.room).await.unwrap(),
            "{name} is removed already"
        );
    }
    assert!(close().await.unwrap().moved > 0);
    assert_eq!(world.store.history(&world.room, 0, u64::MAX).await.unwrap(), open);
    let ledger = world.store.ledger(&world.room, 0, u64::MAX).await.unwrap();
    let total = |figure| ledger.values().map(|figures| figures.total(figure)).sum::<u64>();
    assert_eq!((total(Figure::Arrived), total(Figure::Admitted)), (5, 3));
}
