//! Joins and claims that wait for a replica, and go on without it.

use anyhow::{Result, ensure};
use serde_json::json;
use vestibule_tests::{Deployment, Flavor, Node, Service, eventually};

use crate::{SOON, people::enter};

async fn shortfalls(deployment: &Deployment) -> Result<u64> {
    let metrics = deployment.admin(Service::Admission, 0, "/metrics").await?.expect(200)?;
    let line = "vestibule_redis_replica_shortfalls_total ";
    let found = metrics.text.lines().find_map(|text| text.strip_prefix(line));
    Ok(found.unwrap_or("none").parse()?)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn too_few_replicas_are_counted_and_everybody_is_answered() -> Result<()> {
    let primary = Node::start(Flavor::Redis7, None, &[]).await?;
    let follows = format!("replicaof 127.0.0.1 {}", primary.port());
    let mut replica = Node::start(Flavor::Redis7, None, &[follows]).await?;
    eventually(SOON, "a replica that follows", || primary.has_replica(&replica)).await?;
    let deployment = Deployment::builder()
        .over(&format!("redis://{}", primary.address()))
        .environment("VESTIBULE_REDIS_WAIT_REPLICAS", "1")
        .environment("VESTIBULE_REDIS_WAIT_MS", "2000")
        .start()
        .await?;
    deployment.create_room("sale", &json!({ "total_active_users": 3 })).await?;
    let mut first = enter(deployment.visitor("sale")).await?;
    assert_eq!(shortfalls(&deployment).await?, 0);
    replica.kill()?;
    enter(deployment.visitor("sale")).await?;
    ensure!(shortfalls(&deployment).await? > 0, "nobody noticed");
    ensure!(first.leave().await?.expect(200)?.says("closed"));
    ensure!(deployment.logs().contains("too few replicas"), "it is not logged");
    Ok(())
}
