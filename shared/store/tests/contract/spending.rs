//! Solutions and passes are used once.

use vestibule_store::{Spending, StoreError};

use crate::world::{World, limited};

crate::on_every_server!(
    a_solution_is_used_once,
    what_is_taken_back_may_be_used_again,
    of_many_at_once_one_is_first,
    what_was_used_is_remembered_until_it_expires,
    an_unknown_room_has_none,
);

fn mark(name: &str, expires_at: u64) -> Spending {
    Spending { name: name.to_owned(), expires_at, is_taken_back: false }
}

async fn in_ten_minutes(world: &World) -> u64 {
    world.snapshot().await.now_ms / 1000 + 600
}

async fn a_solution_is_used_once(world: World) {
    world.open(limited(1)).await;
    let (room, until) = (&world.room, in_ten_minutes(&world).await);
    let marks = [mark("a", until), mark("b", until), mark("a", until)];
    assert_eq!(world.store.spend(room, &marks).await.unwrap(), [true, true, false]);
    assert_eq!(world.another_store().spend(room, &marks[..1]).await.unwrap(), [false]);
    world.store.reset(room).await.unwrap();
    assert_eq!(world.store.spend(room, &marks[..1]).await.unwrap(), [false], "after a reset, too");
    assert_eq!(world.store.spend(room, &[]).await.unwrap(), [false; 0]);
}

async fn what_is_taken_back_may_be_used_again(world: World) {
    world.open(limited(1)).await;
    let (room, until) = (&world.room, in_ten_minutes(&world).await);
    let taken_back = Spending { is_taken_back: true, ..mark("a", until) };
    let marks =
        [mark("a", until), mark("b", until), taken_back, mark("a", until), mark("a", until)];
    let used = world.store.spend(room, &marks).await.unwrap();
    assert_eq!(used, [true, true, false, true, false]);
    assert_eq!(
        world.store.spend(room, &marks[1..2]).await.unwrap(),
        [false],
        "the other one is used"
    );
}

async fn of_many_at_once_one_is_first(world: World) {
    world.open(limited(1)).await;
    let until = in_ten_minutes(&world).await;
    let spend = || {
        let (store, room) = (world.another_store(), world.room.clone());
        tokio::spawn(async move { store.spend(&room, &[mark("a", until)]).await.unwrap()[0] })
    };
    let mut first = 0;
    for one in (0..20).map(|_| spend()).collect::<Vec<_>>() {
        first += u32::from(one.await.unwrap());
    }
    assert_eq!(first, 1);
}

async fn what_was_used_is_remembered_until_it_expires(world: World) {
    world.open(limited(1)).await;
    let (room, until) = (&world.room, in_ten_minutes(&world).await);
    assert_eq!(world.store.spend(room, &[mark("a", until)]).await.unwrap(), [true]);
    world.seconds(599);
    assert_eq!(world.store.spend(room, &[mark("a", until)]).await.unwrap(), [false]);
    world.seconds(62);
    // The services refuse it by its time; here it would be nothing to remember.
    assert_eq!(
        world.store.spend(room, &[mark("a", until), mark("b", until)]).await.unwrap(),
        [false; 2]
    );
}

async fn an_unknown_room_has_none(world: World) {
    let spent = world.store.spend(&world.room, &[mark("a", u64::MAX / 2)]).await;
    assert!(matches!(spent, Err(StoreError::RoomMissing)), "{spent:?}");
}
