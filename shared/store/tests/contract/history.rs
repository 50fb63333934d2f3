//! Minutes close into the history, once.

use vestibule_store::{JoinMode, RolledUp};

use crate::world::{START_MS, World, limited};

crate::on_every_server!(minutes_close_once_and_keep_their_counts, old_days_expire);

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
    assert_eq!(rolled, RolledUp { moved: 2, open: 1 });
    let again = world.store.roll_up(&world.room, 1, day, minute).await.unwrap();
    assert_eq!(again, RolledUp { moved: 0, open: 1 });
    assert_eq!(world.store.history(&world.room, minute, minute + 9).await.unwrap(), before);
    let only = world.store.history(&world.room, minute + 1, minute + 1).await.unwrap();
    assert_eq!(only.len(), 1);
}

async fn old_days_expire(world: World) {
    world.open(limited(3)).await;
    world.join(1, JoinMode::Enter).await;
    let minute = START_MS / 60_000;
    world.store.roll_up(&world.room, 1, minute / 1440, minute).await.unwrap();
    let key = format!("vestibule:room:{{sale}}:history:{}", minute / 1440);
    let seconds: i64 = world.server.ask(redis::cmd("TTL").arg(key)).await;
    assert!((31 * 86_400 - 60..=31 * 86_400).contains(&seconds), "{seconds}");
}
