//! A server that hangs: it accepts what is sent, and answers nothing. Nobody is kept waiting for it, those inside stay
//! inside, and of a Cluster only the rooms of that server have to do without.

use std::{collections::BTreeSet, time::Duration};

use anyhow::{Context, Result, ensure};
use futures_util::future::try_join_all;
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};
use vestibule_tests::{Cluster, Deployment, Flavor, Node, Service, Visitor, eventually};

use crate::{SOON, people::enter};

/// Nobody is kept waiting for longer, also on a machine that is busy with other tests: gateways give up at some time,
/// and let pass or turn away by rules of their own.
const PATIENCE: Duration = Duration::from_secs(8);
const NEWCOMERS: u64 = 100;
const APART: Duration = Duration::from_millis(10);
const ROOMS: [&str; 9] = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];

fn settings(seats: usize) -> Value {
    json!({ "total_active_users": seats, "session_duration_seconds": 120 })
}

/// With the time-out that operators have, and not the long one of tests.
async fn over(url: &str) -> Result<Deployment> {
    let services = Deployment::builder().over(url).admissions(2).controllers(2);
    services.environment("VESTIBULE_REDIS_TIMEOUT_MS", "1000").start().await
}

/// Each is told to come again, and soon.
async fn are_turned_away(deployment: &Deployment, room: &str) -> Result<()> {
    let newcomer = deployment.visitor(room);
    try_join_all((0..NEWCOMERS).map(|nth| {
        let mut newcomer = newcomer.clone();
        async move {
            sleep(APART * u32::try_from(nth)?).await;
            let reply = timeout(PATIENCE, newcomer.join()).await;
            reply.context("a newcomer was kept waiting")??.expect_retry_later()
        }
    }))
    .await?;
    Ok(())
}

/// Asked at each instance, and told soon.
async fn is_inside(deployment: &Deployment, visitor: &Visitor) -> Result<()> {
    for only in deployment.admissions().each() {
        let mut visitor = visitor.clone().at(only);
        let reply = timeout(PATIENCE, visitor.status()).await;
        let reply = reply.context("somebody inside was kept waiting")??.expect(200)?;
        ensure!(reply.says("admitted"), "{}", reply.text);
    }
    Ok(())
}

/// Somebody who waits, as soon as the room has places.
async fn has_place(deployment: &Deployment, room: &str) -> Result<Visitor> {
    eventually(SOON, "a place in the room", || async {
        let mut newcomer = deployment.visitor(room);
        newcomer.join().await?.expect(200)?;
        Ok(newcomer)
    })
    .await
}

/// It takes the seat of who leaves.
async fn enters_after(mut leaver: Visitor, waiting: Visitor) -> Result<()> {
    eventually(SOON, "a leave that is answered", || {
        let mut leaver = leaver.clone();
        async move { leaver.leave().await?.expect(200) }
    })
    .await?;
    ensure!(!leaver.status().await?.says("admitted"), "it has left");
    enter(waiting).await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_is_kept_waiting_for_a_server_that_hangs() -> Result<()> {
    let server = Node::start(Flavor::Redis7, None, &[]).await?;
    let url = format!("redis://{}", server.address());
    let deployment = over(&url).await?;
    deployment.create_room("sale", &settings(3)).await?;
    let mut inside = try_join_all((0..3).map(|_| enter(deployment.visitor("sale")))).await?;
    let mut waiting = deployment.visitor("sale");
    let place = waiting.join().await?.expect(200)?.number("queue_number")?;

    server.freeze()?;
    are_turned_away(&deployment, "sale").await?;
    for visitor in &inside {
        is_inside(&deployment, visitor).await?;
    }
    for only in deployment.admissions().each() {
        let reply = waiting.clone().at(only).status().await?.expect(200)?;
        ensure!(reply.body["stale"] == true, "{}", reply.text);
        assert_eq!(reply.number("queue_number")?, place);
    }
    server.thaw()?;

    let last = has_place(&deployment, "sale").await?.status().await?.number("queue_number")?;
    ensure!(last > place, "{last} is not behind {place}");
    for visitor in &inside {
        is_inside(&deployment, visitor).await?;
    }
    enters_after(inside.remove(0), waiting).await
}

/// Whoever finds that the Cluster does not answer looks for another map of it: all together, and not in turn.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_is_kept_waiting_for_a_cluster_that_hangs() -> Result<()> {
    let cluster = Cluster::start(Flavor::Redis7, 0, None).await?;
    let deployment = over(&cluster.url()).await?;
    for room in ROOMS {
        deployment.create_room(room, &settings(1)).await?;
        deployment.visitor(room).join().await?.expect(200)?;
    }
    (0..3).try_for_each(|index| cluster.node(index).freeze())?;
    try_join_all(ROOMS.map(|room| are_turned_away(&deployment, room))).await?;
    (0..3).try_for_each(|index| cluster.node(index).thaw())?;
    for room in ROOMS {
        has_place(&deployment, room).await?;
    }
    Ok(())
}

/// Makes the Cluster go on without one of its servers, and says which that can be: not the one that holds what is of no
/// room, without which nothing goes on.
async fn may_lose_one(cluster: &Cluster) -> Result<usize> {
    for index in 0..3 {
        let mut partly = redis::cmd("CONFIG");
        partly.arg(&["SET", "cluster-require-full-coverage", "no"]);
        cluster.node(index).command::<()>(&partly).await?;
    }
    Ok((deployments(cluster).await? + 1) % 3)
}

/// The server that holds what is of no room.
async fn deployments(cluster: &Cluster) -> Result<usize> {
    cluster.owner_of(cluster.slot_of("{deployment}").await?).await
}

/// Some of the rooms.
async fn rooms_of(cluster: &Cluster, index: usize) -> Result<BTreeSet<&'static str>> {
    let mut rooms = BTreeSet::new();
    for room in ROOMS {
        if cluster.owner_of(cluster.slot_of(&format!("{{{room}}}")).await?).await? == index {
            rooms.insert(room);
        }
    }
    ensure!(!rooms.is_empty() && rooms.len() < ROOMS.len(), "{rooms:?}");
    Ok(rooms)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shard_that_hangs_keeps_nobody_out_of_the_rooms_of_the_others() -> Result<()> {
    let cluster = Cluster::start(Flavor::Redis7, 0, None).await?;
    let lost = may_lose_one(&cluster).await?;
    let deployment = over(&cluster.url()).await?;
    let mut inside = Vec::new();
    for room in ROOMS {
        deployment.create_room(room, &settings(1)).await?;
        inside.push((room, enter(deployment.visitor(room)).await?));
    }
    let hanging = rooms_of(&cluster, lost).await?;

    cluster.node(lost).freeze()?;
    for (room, visitor) in &inside {
        if hanging.contains(room) {
            are_turned_away(&deployment, room).await?;
        }
        is_inside(&deployment, visitor).await?;
    }
    for (room, visitor) in inside.iter().filter(|(room, _)| !hanging.contains(room)) {
        let newcomer = has_place(&deployment, room).await?;
        enters_after(visitor.clone(), newcomer).await.with_context(|| format!("in {room}"))?;
    }
    cluster.node(lost).thaw()?;

    for (room, visitor) in inside.into_iter().filter(|(room, _)| hanging.contains(room)) {
        is_inside(&deployment, &visitor).await?;
        let newcomer = has_place(&deployment, room).await?;
        enters_after(visitor, newcomer).await.with_context(|| format!("in {room}"))?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_starts_while_a_shard_hangs_serves_the_rooms_of_the_others() -> Result<()> {
    let cluster = Cluster::start(Flavor::Redis7, 0, None).await?;
    let lost = may_lose_one(&cluster).await?;
    let mut deployment = over(&cluster.url()).await?;
    for room in ROOMS {
        deployment.create_room(room, &settings(1)).await?;
    }
    let hanging = rooms_of(&cluster, lost).await?;
    let healthy = ROOMS.into_iter().find(|room| !hanging.contains(room)).context("a room")?;

    cluster.node(lost).freeze()?;
    // As a list that went back.
    let (at, names) = (deployments(&cluster).await?, "vestibule:{deployment}:rooms");
    cluster.node(at).command::<()>(redis::cmd("SREM").arg(names).arg(healthy)).await?;
    let is_listed = || async {
        let mut asked = redis::cmd("SISMEMBER");
        let listed: bool = cluster.node(at).command(asked.arg(names).arg(healthy)).await?;
        ensure!(listed, "{healthy} is not listed again");
        Ok(())
    };
    eventually(SOON, "the list as it was", is_listed).await?;
    // Each is ready, or this fails.
    for service in [Service::Admission, Service::Controller] {
        deployment.replace(service, 0, None).await?;
    }
    let started = deployment.admissions().each().swap_remove(0);
    let newcomer = deployment.visitor(healthy).at(started);
    enter(newcomer).await?;
    cluster.node(lost).thaw()
}
