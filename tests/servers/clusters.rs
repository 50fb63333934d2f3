//! Rooms on every shard of a Cluster, and one that moves to another shard while people wait and join.

use std::{collections::BTreeSet, fs, process::Output};

use anyhow::{Result, ensure};
use futures_util::future::try_join_all;
use redis::cmd;
use serde_json::json;
use vestibule_tests::{Cluster, Deployment, Flavor, Redis, backup, eventually, restore};

use crate::{
    SOON,
    people::{Newcomers, enter},
    pushes,
    rights::{self, Users},
};

const ROOMS: [&str; 9] = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];

async fn rooms_work(deployment: &Deployment, cluster: &Cluster) -> Result<()> {
    let mut owners = BTreeSet::new();
    for room in ROOMS {
        let settings = json!({ "total_active_users": 1, "session_duration_seconds": 60 });
        deployment.create_room(room, &settings).await?;
        owners.insert(cluster.owner_of(cluster.slot_of(&format!("{{{room}}}")).await?).await?);
    }
    assert_eq!(owners.len(), 3, "rooms on every shard");
    try_join_all(ROOMS.map(|room| async move {
        let mut first = enter(deployment.visitor(room)).await?;
        let mut second = deployment.visitor(room);
        let reply = second.join().await?.expect(200)?;
        ensure!(!reply.says("admitted"), "{room} is full: {}", reply.text);
        first.leave().await?.expect(200)?;
        enter(second).await
    }))
    .await?;
    let listed = deployment.operator().call(reqwest::Method::GET, "/v1/rooms", None).await?;
    ensure!(listed.expect(200)?.text.matches("total_active_users").count() >= ROOMS.len());
    Ok(())
}

/// Also with no more rights than are needed.
async fn several_addresses(flavor: Flavor) -> Result<()> {
    let cluster = Cluster::start(flavor, 0, None).await?;
    let users = Users::read()?;
    for index in 0..3 {
        users.create_at(cluster.node(index)).await?;
    }
    let deployment = Deployment::builder()
        .over(&users.controllers_url(&cluster.url()))
        .admissions_over(&users.admissions_url(&cluster.url()))
        .admissions(2)
        .start()
        .await?;
    rooms_work(&deployment, &cluster).await?;
    for room in ROOMS {
        // Two admissions, and a controller.
        pushes::is_heard_by(&cluster, room, 3).await?;
    }
    for index in 0..3 {
        rights::expect_nothing_denied(cluster.node(index)).await?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rooms_move_from_one_server_to_a_cluster_and_back() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    for room in ROOMS {
        deployment.create_room(room, &json!({ "total_active_users": 3 })).await?;
        enter(deployment.visitor(room)).await?;
    }
    let cluster = Cluster::start(Flavor::Redis7, 0, None).await?;
    let back = Redis::start(Flavor::Redis7).await?;
    let dir = tempfile::tempdir()?;
    let [first, second] = ["first", "second"].map(|name| dir.path().join(name));
    let outputs =
        [backup(&deployment.redis().url(), &first, &[])?, restore(&cluster.url(), &first, &[])?];
    outputs.iter().try_for_each(succeeded)?;
    let next = Deployment::builder().over(&cluster.url()).in_place_of(&deployment).start().await?;
    for room in ROOMS {
        eventually(SOON, "the room, open again", || async {
            next.operator().status(room).await?;
            next.aws(room).serving().await
        })
        .await?;
    }
    let outputs = [backup(&cluster.url(), &second, &[])?, restore(&back.url(), &second, &[])?];
    outputs.iter().try_for_each(succeeded)?;
    assert_eq!(fs::read_to_string(second)?.matches("\"key\":\"line\"").count(), ROOMS.len());
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_of_which_one_server_was_emptied_takes_no_backup() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    for room in ROOMS {
        deployment.create_room(room, &json!({ "total_active_users": 3 })).await?;
    }
    let cluster = Cluster::start(Flavor::Redis7, 0, None).await?;
    let dir = tempfile::tempdir()?;
    let file = dir.path().join("backup");
    succeeded(&backup(&deployment.redis().url(), &file, &[])?)?;
    succeeded(&restore(&cluster.url(), &file, &[])?)?;
    let empty = cmd("FLUSHALL");
    let emptied = cluster.owner_of(cluster.slot_of("{deployment}").await?).await?;
    cluster.node(emptied).command::<()>(&empty).await?;
    let refused = restore(&cluster.url(), &file, &[])?;
    let said = String::from_utf8_lossy(&refused.stderr);
    ensure!(!refused.status.success() && said.contains("holds something of room"), "{said}");
    let keys: u64 = cluster.node(emptied).command(&cmd("DBSIZE")).await?;
    assert_eq!(keys, 0, "nothing was begun");
    for index in 0..3 {
        cluster.node(index).command::<()>(&empty).await?;
    }
    succeeded(&restore(&cluster.url(), &file, &[])?)
}

fn succeeded(output: &Output) -> Result<()> {
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rooms_on_every_shard_work() -> Result<()> {
    several_addresses(Flavor::Redis7).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rooms_on_every_shard_of_valkey_work() -> Result<()> {
    if Flavor::Valkey9.is_left_out() {
        return Ok(());
    }
    several_addresses(Flavor::Valkey9).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_address_of_a_cluster_is_enough() -> Result<()> {
    let cluster = Cluster::start(Flavor::Redis7, 0, Some("secret")).await?;
    let deployment = Deployment::builder().over(&cluster.url_of(2)).start().await?;
    rooms_work(&deployment, &cluster).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_room_moves_to_another_shard_while_people_wait_and_join() -> Result<()> {
    let cluster = Cluster::start(Flavor::Redis7, 0, None).await?;
    let deployment = Deployment::builder()
        .over(&cluster.url())
        .environment("VESTIBULE_REDIS_TIMEOUT_MS", "1000")
        .admissions(2)
        .controllers(2)
        .start()
        .await?;
    let settings = json!({ "total_active_users": 3, "session_duration_seconds": 60 });
    deployment.create_room("sale", &settings).await?;
    let inside = try_join_all((0..3).map(|_| enter(deployment.visitor("sale")))).await?;
    let waiting: Vec<_> = (0..3).map(|_| tokio::spawn(enter(deployment.visitor("sale")))).collect();
    let newcomers = Newcomers::come(&deployment, "sale");
    let slot = cluster.slot_of("{sale}").await?;
    let from = cluster.owner_of(slot).await?;
    for to in [(from + 1) % 3, (from + 2) % 3, from] {
        cluster.move_slot(slot, to).await?;
    }
    for mut visitor in inside {
        let left = vestibule_tests::eventually(crate::SOON, "a leave that is answered", || {
            let mut visitor = visitor.clone();
            async move { visitor.leave().await?.expect(200) }
        });
        left.await?;
        ensure!(visitor.status().await?.expect(200)?.says("closed"), "it has left");
    }
    for one in waiting {
        one.await??;
    }
    // Each answer that was neither a 200 nor a 503 has failed already.
    let answers = newcomers.end().await?;
    ensure!(answers.last().is_some_and(|(_, status)| *status == 200), "{answers:?}");
    Ok(())
}
