//! What an admission keeps of a room is not kept for longer than the room.

use std::sync::{Arc, Weak};

use tokio::time::{Duration, timeout};
use vestibule_domain::{OnRedisFailure, RoomId};

use super::World;
use crate::loops::forgetting;

const ROOMS: [(&str, OnRedisFailure); 2] =
    [("here", OnRedisFailure::Closed), ("there", OnRedisFailure::Closed)];

#[tokio::test(start_paused = true)]
async fn a_deleted_room_is_forgotten_and_no_other() {
    let world = World::with(&ROOMS).await;
    let kept = ["here", "there"].map(|room| Arc::downgrade(&world.room(room).ciphers));
    world.admission.feed.forget(&"there".parse().unwrap()).await;
    assert_eq!(kept.each_ref().map(Weak::strong_count), [1, 1]);
    let endless = forgetting::run(&world.admission);
    assert!(timeout(Duration::from_secs(61), endless).await.is_err());
    assert_eq!(kept.each_ref().map(Weak::strong_count), [1, 0]);
}

#[tokio::test(start_paused = true)]
async fn the_draws_of_a_room_that_is_not_there_are_read_anew() {
    let world = World::with(&ROOMS).await;
    let (draws, here) = (&world.admission.draws, "here".parse::<RoomId>().unwrap());
    draws.get(&here).await.unwrap();
    world.model.take_away(&["here"]);
    draws.retain_rooms(|room| *room == here);
    draws.get(&here).await.expect("they are remembered");
    draws.retain_rooms(|_| false);
    draws.get(&here).await.expect_err("nothing is remembered");
}
