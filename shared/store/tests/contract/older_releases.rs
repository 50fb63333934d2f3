//! What a release without stamps has left: it is taken up where it is.

use redis::cmd;
use vestibule_store::{JoinMode, StoreError};

use crate::world::{World, limited};

crate::on_every_server!(a_room_without_a_stamp_gets_one_from_whoever_writes_first,);

const LINE: &str = "vestibule:room:{sale}:line";

async fn stored(world: &World, name: &str) -> String {
    world.server.ask::<Option<String>>(cmd("HGET").arg(LINE).arg(name)).await.unwrap_or_default()
}

async fn a_room_without_a_stamp_gets_one_from_whoever_writes_first(world: World) {
    world.open(limited(3)).await;
    world.join(5, JoinMode::Enter).await;
    let known_to_all = ["nonce", "seq", "run_id", "clock_ms", "clock_ahead"];
    world.server.ask::<u64>(cmd("HDEL").arg(LINE).arg(&known_to_all)).await;
    let newcomer = world.another_store();
    let seen = newcomer.read_snapshot(&world.room).await.unwrap().unwrap();
    assert_eq!((seen.queue_counter, seen.is_stamped()), (5, false));
    assert_eq!(stored(&world, "run_id").await, "", "who only reads writes nothing");
    newcomer.increment(&world.room, 1).await.unwrap();
    assert_eq!(stored(&world, "seq").await, "1");
    assert_ne!(stored(&world, "run_id").await, "");
    // The release without stamps goes on beside it, and counts nothing.
    world.server.ask::<u64>(cmd("HINCRBY").arg(LINE).arg("queue_counter").arg(3)).await;
    newcomer.increment(&world.room, 1).await.unwrap();
    let seen = newcomer.read_snapshot(&world.room).await.unwrap().unwrap();
    // Three of the five were served when they came.
    assert_eq!((seen.queue_counter, seen.serving_counter, seen.generation), (8, 3 + 2, 1));
    // From now on another server is noticed.
    world.server.ask::<()>(cmd("HSET").arg(LINE).arg("run_id").arg("0123456789abcdef")).await;
    let refused = newcomer.read_snapshot(&world.room).await;
    assert!(matches!(refused, Err(StoreError::Rewound)), "{refused:?}");
}
