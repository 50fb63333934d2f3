//! What lies between a service and its server: encryption, and a way that goes silent.

use anyhow::{Result, ensure};
use redis::cmd;
use serde_json::json;
use vestibule_tests::{Authority, Deployment, Flavor, FrozenProxy, Node, Redis, eventually};

use crate::{SOON, people::enter};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sale_with_tls_an_authority_of_ones_own_and_a_password() -> Result<()> {
    let authority = Authority::new()?;
    let (port, options) = authority.options();
    let node = Node::start(Flavor::Redis7, Some("p@ss/w%rd"), &options).await?;
    let deployment = Deployment::builder()
        .over(&format!("rediss://:p%40ss%2Fw%25rd@localhost:{port}"))
        .environment("VESTIBULE_REDIS_CA_FILE", &authority.file().display().to_string())
        .log("debug")
        .start()
        .await?;
    deployment.create_room("sale", &json!({ "total_active_users": 1 })).await?;
    enter(deployment.visitor("sale")).await?;
    ensure!(node.command::<u64>(&cmd("DBSIZE")).await? > 0, "nothing is there");
    ensure!(!deployment.logs().contains("p@ss") && !deployment.logs().contains("p%40ss"));
    Ok(())
}

async fn subscribers(redis: &Redis) -> Result<u64> {
    let mut asked = cmd("PUBSUB");
    asked.arg("NUMSUB").arg("vestibule:snapshots");
    let (_channel, count): (String, u64) =
        asked.query_async(&mut redis.connection().await?).await?;
    Ok(count)
}

/// The server never learns that the old subscriptions are gone, so new ones come on top of them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_listens_to_silence_listens_again() -> Result<()> {
    let redis = Redis::start(Flavor::Redis7).await?;
    let proxy = FrozenProxy::start(redis.url().trim_start_matches("redis://")).await?;
    let deployment = Deployment::builder()
        .over(&format!("redis://{}", proxy.address()))
        .environment("VESTIBULE_REDIS_TIMEOUT_MS", "500")
        .start()
        .await?;
    deployment.create_room("sale", &json!({ "total_active_users": 1 })).await?;
    let listen = |wanted: u64| {
        let redis = &redis;
        eventually(SOON, "subscriptions of both services", move || async move {
            let found = subscribers(redis).await?;
            ensure!(found >= wanted, "{found}");
            Ok(())
        })
    };
    listen(2).await?;
    proxy.freeze();
    proxy.thaw();
    listen(4).await?;
    enter(deployment.visitor("sale")).await?;
    Ok(())
}
