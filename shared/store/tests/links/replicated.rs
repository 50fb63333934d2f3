//! Calls that wait for replicas: with enough of them, with too few, and beside others that do not wait.

use std::time::Duration;

use anyhow::{Result, ensure};
use futures_util::future::try_join_all;
use redis::cmd;
use tokio::time::Instant;
use vestibule_store::{Link, LinkOptions, open_link};
use vestibule_tests::{Cluster, Flavor, Node, eventually};

use crate::{SOON, TIMEOUT, ask, get};

/// Long enough for a replica that is there, on a machine that is busy with other tests.
const WITHIN: Duration = Duration::from_secs(1);

async fn primary_and_replica() -> Result<(Node, Node)> {
    let primary = Node::start(Flavor::Redis7, None, &[]).await?;
    let follows = format!("replicaof 127.0.0.1 {}", primary.port());
    let replica = Node::start(Flavor::Redis7, None, &[follows]).await?;
    eventually(SOON, "a replica that follows", || primary.has_replica(&replica)).await?;
    Ok((primary, replica))
}

async fn set(link: &dyn Link, key: &str) -> Result<()> {
    link.call_replicated(cmd("SET").arg(key).arg(1)).await?.extract_error()?;
    Ok(())
}

#[tokio::test]
async fn too_few_replicas_are_counted_and_everybody_is_answered() -> Result<()> {
    let (primary, mut replica) = primary_and_replica().await?;
    let address = format!("redis://{}", primary.address()).parse()?;
    let options = LinkOptions::new(TIMEOUT).wait(1, WITHIN);
    let link = open_link(&address, &options)?;
    for index in 0..20 {
        set(&*link, &format!("key:{index}")).await?;
    }
    assert_eq!(link.replica_shortfalls(), 0);
    assert_eq!(replica.command::<u64>(&cmd("DBSIZE")).await?, 20);
    // A refusal is told as it is, and is no shortfall.
    let refused = link.call_replicated(cmd("HSET").arg("key:1").arg("a").arg("b")).await;
    ensure!(refused.and_then(redis::Value::extract_error).is_err());
    replica.kill()?;
    let begun = Instant::now();
    let keys: Vec<_> = (0..200).map(|index| format!("late:{index}")).collect();
    try_join_all(keys.iter().map(|key| set(&*link, key))).await?;
    // They share their waits; one after the other, or four at a time, would be 50 s.
    ensure!(begun.elapsed() < 20 * WITHIN, "{:?}", begun.elapsed());
    assert_eq!(link.replica_shortfalls(), 200);
    let begun = Instant::now();
    for index in 0..20 {
        set(&*link, &format!("later:{index}")).await?;
    }
    // Replicas that have been missed are waited for in full once a second.
    ensure!(begun.elapsed() < 10 * WITHIN, "{:?}", begun.elapsed());
    assert_eq!(link.replica_shortfalls(), 220);
    ensure!(get(&*link, "late:199").await?.is_some(), "it was written all the same");
    Ok(())
}

#[tokio::test]
async fn a_wait_stalls_nobody_who_does_not_wait() -> Result<()> {
    let (primary, mut replica) = primary_and_replica().await?;
    replica.kill()?;
    let address = format!("redis://{}", primary.address()).parse()?;
    let within = Duration::from_mins(1);
    let link = open_link(&address, &LinkOptions::new(TIMEOUT).wait(1, within))?;
    let waits = set(&*link, "x");
    let goes_on = async {
        eventually(SOON, "the write that waits", || async {
            ensure!(get(&*link, "x").await?.is_some(), "not there yet");
            Ok(())
        })
        .await?;
        ask::<()>(&*link, &cmd("PING")).await
    };
    tokio::select! {
        biased;
        _ = waits => anyhow::bail!("it did not wait"),
        done = goes_on => done,
    }
}

#[tokio::test]
async fn whoever_waits_for_nobody_sends_no_wait() -> Result<()> {
    let (primary, mut replica) = primary_and_replica().await?;
    replica.kill()?;
    let address = format!("redis://{}", primary.address()).parse()?;
    let link = open_link(&address, &LinkOptions::new(TIMEOUT).wait(0, WITHIN))?;
    set(&*link, "x").await?;
    assert_eq!(link.replica_shortfalls(), 0);
    let stats: String = primary.command(cmd("INFO").arg("commandstats")).await?;
    ensure!(!stats.contains("cmdstat_wait:"), "{stats}");
    Ok(())
}

#[tokio::test]
async fn of_a_cluster_the_owner_of_the_slot_waits() -> Result<()> {
    let cluster = Cluster::start(Flavor::Redis7, 1, None).await?;
    let link = open_link(&cluster.url().parse()?, &LinkOptions::new(TIMEOUT).wait(1, 10 * WITHIN))?;
    for room in ["a", "b", "c", "d", "e", "f", "g", "h", "i"] {
        set(&*link, room).await?;
        let owner = cluster.owner_of(cluster.slot_of(room).await?).await?;
        let stats: String = cluster.node(owner).command(cmd("INFO").arg("commandstats")).await?;
        ensure!(stats.contains("cmdstat_wait:"), "{room}: {stats}");
    }
    assert_eq!(link.replica_shortfalls(), 0);
    Ok(())
}
