//! A shard of a Cluster that is away takes nothing along but its own rooms: what is to be done for rooms of the others is
//! done, by whoever leads, and operators go on working on them.

use anyhow::{Context, Result, ensure};
use redis::cmd;
use reqwest::Method;
use serde_json::{Value, json};
use vestibule_tests::{Cluster, Deployment, Flavor, Service, eventually};

use crate::{SOON, people::enter};

/// A deployment, and which shards have what of it.
struct Parts {
    cluster: Cluster,
    deployment: Deployment,
    /// The shard of what is of no room, and the two others.
    shards: [usize; 3],
}

fn seats(seats: u32) -> Value {
    json!({ "total_active_users": seats, "session_duration_seconds": 120 })
}

fn with_route(host: &str) -> Value {
    json!({ "total_active_users": 3, "routes": [{ "host": host }] })
}

// === impl Parts ===

impl Parts {
    async fn start() -> Result<Self> {
        let cluster = Cluster::start(Flavor::Redis7, 0, None).await?;
        for index in 0..3 {
            let mut partly = cmd("CONFIG");
            partly.arg(&["SET", "cluster-require-full-coverage", "no"]);
            cluster.node(index).command::<()>(&partly).await?;
        }
        let deployment = Deployment::builder()
            .over(&cluster.url())
            .environment("VESTIBULE_REDIS_TIMEOUT_MS", "1000")
            .controllers(2)
            .start()
            .await?;
        let first = cluster.owner_of(cluster.slot_of("{deployment}").await?).await?;
        Ok(Self { cluster, deployment, shards: [first, (first + 1) % 3, (first + 2) % 3] })
    }

    /// The name of a room that is there, as the `nth` one.
    async fn name_at(&self, shard: usize, nth: usize) -> Result<String> {
        let mut left = nth;
        for number in 0..1_000 {
            let name = format!("room-{number}");
            let slot = self.cluster.slot_of(&format!("{{{name}}}")).await?;
            if self.cluster.owner_of(slot).await? == shard {
                if left == 0 {
                    return Ok(name);
                }
                left -= 1;
            }
        }
        anyhow::bail!("no name of a room leads to shard {shard}")
    }

    async fn enters(&self, room: &str) -> Result<()> {
        enter(self.deployment.visitor(room)).await.with_context(|| format!("into {room}"))?;
        Ok(())
    }

    /// Whether each controller lists these rooms.
    async fn all_list(&self, rooms: &[&String]) -> Result<()> {
        for index in 0..2 {
            let operator = self.deployment.operator_at(index);
            let listed = operator.call(Method::GET, "/v1/rooms", None).await?.expect(200)?;
            ensure!(rooms.iter().all(|room| listed.text.contains(*room)), "{}", listed.text);
        }
        Ok(())
    }

    /// As if all routes had been changed long ago.
    async fn forget_changes(&self) -> Result<()> {
        let mut forgotten = cmd("DEL");
        forgotten.arg("vestibule:{deployment}:routes-changed");
        self.cluster.node(self.shards[0]).command::<()>(&forgotten).await
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deleted_room_of_a_shard_that_is_away_keeps_no_other_from_being_restored() -> Result<()> {
    let mut parts = Parts::start().await?;
    let [first, dead, emptied] = parts.shards;
    let deleted = parts.name_at(dead, 0).await?;
    let [here, lost] = [parts.name_at(first, 0).await?, parts.name_at(emptied, 0).await?];
    for room in [&deleted, &here, &lost] {
        parts.deployment.create_room(room, &seats(20)).await?;
    }
    parts.enters(&lost).await?;
    let operator = parts.deployment.operator();
    operator.call(Method::DELETE, &format!("/v1/rooms/{deleted}"), None).await?.expect(204)?;

    parts.cluster.node_mut(dead).kill()?;
    parts.cluster.node(emptied).command::<()>(&cmd("FLUSHALL")).await?;
    parts.enters(&lost).await?;

    let leader = parts.deployment.leading().await?;
    // In order: of one that was killed the worst would be assumed for as long as a session lasts.
    parts.deployment.replace(Service::Controller, leader, None).await?;
    parts.cluster.node(emptied).command::<()>(&cmd("FLUSHALL")).await?;
    for room in [&here, &lost] {
        parts.enters(room).await?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn operators_work_on_rooms_of_the_other_shards() -> Result<()> {
    let parts = Parts::start().await?;
    let [first, dead, other] = parts.shards;
    let [away, there] = [parts.name_at(dead, 0).await?, parts.name_at(first, 0).await?];
    let [new, late] = [parts.name_at(other, 0).await?, parts.name_at(other, 1).await?];
    for room in [&away, &there] {
        parts.deployment.operator().put_room(room, &with_route(&format!("{room}.example"))).await?;
    }
    parts.forget_changes().await?;
    // Once each controller has read them.
    eventually(SOON, "a list of all rooms", || async {
        parts.cluster.node(dead).freeze()?;
        let listed = parts.all_list(&[&away, &there]).await;
        if listed.is_err() {
            parts.cluster.node(dead).thaw()?;
        }
        listed
    })
    .await?;
    let operator = parts.deployment.operator();
    operator.call(Method::GET, "/v1/config", None).await?.expect(200)?;
    operator.put_room(&new, &with_route("new.example")).await?.expect(201)?;
    operator.put_room(&there, &with_route("moved.example")).await?.expect(200)?;
    let taken = operator.put_room(&late, &with_route(&format!("{away}.example"))).await?;
    taken.expect(400)?;
    operator.put_room(&away, &with_route("moved-too.example")).await?.expect(503)?;

    parts.cluster.node(dead).thaw()?;
    parts.enters(&away).await
}
