//! The key ring is changed by whoever has read it as it is, and by nobody else.

use crate::world::World;

crate::on_every_server!(
    the_first_ring_stays_whoever_else_makes_one,
    of_two_who_change_the_same_ring_one_has_to_read_it_again,
    a_ring_that_was_lost_is_put_back_once,
);

async fn the_first_ring_stays_whoever_else_makes_one(world: World) {
    let store = &world.store;
    assert_eq!(store.key_ring().await.unwrap(), None);
    assert!(!store.replace_key_ring(Some(""), "a").await.unwrap(), "there is none to replace");
    assert_eq!(store.create_key_ring("a").await.unwrap(), "a");
    assert_eq!(store.create_key_ring("b").await.unwrap(), "a");
}

async fn of_two_who_change_the_same_ring_one_has_to_read_it_again(world: World) {
    let (store, another) = (&world.store, world.another_store());
    store.create_key_ring("a").await.unwrap();
    let (one, other) = tokio::join!(
        store.replace_key_ring(Some("a"), "one"),
        another.replace_key_ring(Some("a"), "other"),
    );
    let (one, other) = (one.unwrap(), other.unwrap());
    assert!(one ^ other, "{one} {other}");
    let left = store.key_ring().await.unwrap().unwrap();
    assert_eq!(left, if one { "one" } else { "other" });
    assert!(store.replace_key_ring(Some(&left), "next").await.unwrap());
}

async fn a_ring_that_was_lost_is_put_back_once(world: World) {
    let store = &world.store;
    assert!(store.replace_key_ring(None, "remembered").await.unwrap());
    assert!(!store.replace_key_ring(None, "another").await.unwrap(), "there is one");
    assert_eq!(store.key_ring().await.unwrap().as_deref(), Some("remembered"));
}
