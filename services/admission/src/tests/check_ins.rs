//! Who waits in rooms of several shards, of which one is away.

use tokio::time::{Duration, Instant, timeout};
use vestibule_domain::OnRedisFailure;

use super::{SEATS, World, model::TIMEOUT};
use crate::flows::{Solution, Status};

/// More than are counted with one call.
const CROWD: u64 = 1_200;

#[tokio::test(start_paused = true)]
async fn a_shard_that_is_away_keeps_nobody_from_counting_who_waits_at_another() {
    let rooms = [("here", OnRedisFailure::Closed), ("there", OnRedisFailure::Closed)];
    let world = World::with(&rooms).await;
    let (flows, check_ins) = (&world.admission.flows, &world.admission.flows.check_ins);
    let mut waits = Vec::new();
    for (room, crowd) in [("here", CROWD), ("there", 1)] {
        for _ in 0..SEATS {
            world.enter(room).await;
        }
        for _ in 0..crowd {
            let joined = flows.join(&world.room(room), None, Solution::NONE).await.unwrap();
            assert_eq!(joined.status.status, Status::Waiting);
            waits.push(*joined.cookie.ticket().unwrap());
        }
    }
    let (there, here) = waits.split_last().unwrap();
    world.model.take_away(&["here"]);
    timeout(TIMEOUT / 2, check_ins.run()).await.unwrap_err();
    let asked_before = world.admission.store.calls();
    flows.check_in(&world.room("there"), *there).await.unwrap();
    check_ins.send().await;
    assert_eq!(world.admission.store.calls(), asked_before, "it was counted already");

    for ticket in here {
        flows.check_in(&world.room("here"), *ticket).await.unwrap();
    }
    let begun = Instant::now();
    check_ins.send().await;
    let took = begun.elapsed();
    assert!((TIMEOUT..TIMEOUT + Duration::from_millis(1)).contains(&took), "asked once: {took:?}");
}

#[tokio::test(start_paused = true)]
async fn one_answer_that_is_lost_keeps_nobody_from_counting() {
    let rooms = ["here-1", "here-2", "here-3"];
    let world = World::with(&rooms.map(|room| (room, OnRedisFailure::Closed))).await;
    let flows = &world.admission.flows;
    let mut waits = Vec::new();
    for room in rooms {
        for _ in 0..SEATS {
            world.enter(room).await;
        }
        let joined = flows.join(&world.room(room), None, Solution::NONE).await.unwrap();
        waits.push((room, *joined.cookie.ticket().unwrap()));
    }
    world.model.lose_one();
    // What was not answered goes with the next ones.
    for _ in 0..2 {
        flows.check_ins.send().await;
    }
    let asked_before = world.admission.store.calls();
    for (room, ticket) in waits {
        flows.check_in(&world.room(room), ticket).await.unwrap();
    }
    flows.check_ins.send().await;
    assert_eq!(world.admission.store.calls(), asked_before, "all were counted already");
}
