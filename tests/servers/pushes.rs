//! Where rooms of a Cluster push: at their own shards, which both services follow.

use anyhow::{Context, Result, ensure};
use futures_util::StreamExt;
use redis::{Client, aio::PubSub, cmd};
use reqwest::Method;
use serde_json::json;
use vestibule_tests::{Cluster, Deployment, Flavor, eventually};

use crate::{SOON, people::enter, rights::Users};

/// What every node of a Cluster hears; rooms push there unless every service hears them at their shards.
const EVERYWHERE: [&str; 6] = [
    "vestibule:snapshots",
    "vestibule:differences",
    "vestibule:deletions",
    "vestibule:endings",
    "vestibule:alarms",
    "vestibule:wakes",
];
const THE_END: &str = "nothing more is pushed";
/// Two of each.
const SERVICES: u64 = 4;

fn channel(room: &str) -> String {
    format!("vestibule:room:{{{room}}}:pushes")
}

/// Waits until so many services listen to a room where it is now, and nowhere else.
pub(crate) async fn is_heard_by(cluster: &Cluster, room: &str, services: u64) -> Result<()> {
    let channel = channel(room);
    eventually(SOON, "the services, at the room's shard alone", || async {
        let owner = cluster.owner_of(cluster.slot_of(&channel).await?).await?;
        let found = cluster.sharded_listeners(&channel).await?;
        let all: u64 = found.iter().sum();
        ensure!(found[owner] == services && all == services, "{found:?}, and it is at {owner}");
        Ok(())
    })
    .await
}

async fn hear_everywhere(cluster: &Cluster) -> Result<PubSub> {
    let mut heard = Client::open(cluster.url_of(0))?.get_async_pubsub().await?;
    heard.subscribe(&EVERYWHERE).await?;
    Ok(heard)
}

/// The next that is pushed to every node: a channel, and a text.
async fn next(heard: &mut PubSub) -> Result<(String, String)> {
    let message = heard.on_message().next().await.context("the subscription has ended")?;
    Ok((message.get_channel_name().to_owned(), message.get_payload()?))
}

/// Fails if anything was pushed to every node.
async fn expect_silence(cluster: &Cluster, mut heard: PubSub) -> Result<()> {
    for index in 0..3 {
        let mut end = cmd("PUBLISH");
        cluster.node(index).command::<u64>(end.arg(EVERYWHERE[0]).arg(THE_END)).await?;
    }
    for _ in 0..3 {
        let (channel, text) = next(&mut heard).await?;
        ensure!(text == THE_END, "on {channel}: {text}");
    }
    Ok(())
}

async fn at_their_shards(flavor: Flavor) -> Result<()> {
    let cluster = Cluster::start(flavor, 0, None).await?;
    let deployment =
        Deployment::builder().over(&cluster.url()).admissions(2).controllers(2).start().await?;
    let settings = json!({ "total_active_users": 1, "session_duration_seconds": 60 });
    deployment.create_room("sale", &settings).await?;
    is_heard_by(&cluster, "sale", SERVICES).await?;
    let heard = hear_everywhere(&cluster).await?;
    // A room that moves is followed, and the next is let in as soon as somebody leaves.
    let mut inside = enter(deployment.visitor("sale")).await?;
    let slot = cluster.slot_of(&channel("sale")).await?;
    let from = cluster.owner_of(slot).await?;
    for to in [(from + 1) % 3, from] {
        cluster.move_slot(slot, to).await?;
        is_heard_by(&cluster, "sale", SERVICES).await?;
        eventually(SOON, "a leave that is answered", || {
            let mut leaving = inside.clone();
            async move { leaving.leave().await?.expect(200) }
        })
        .await?;
        inside = enter(deployment.visitor("sale")).await?;
    }
    // So is one that is new, and nobody hears of one that was deleted but at its shard.
    deployment.create_room("other", &settings).await?;
    is_heard_by(&cluster, "other", SERVICES).await?;
    let deleted =
        deployment.operator().call(Method::DELETE, "/v1/rooms/other?people=99", None).await?;
    ensure!(matches!(deleted.status, 200..=299), "{} {}", deleted.status, deleted.text);
    eventually(SOON, "a room that nobody knows", || async {
        let reply = deployment.visitor("other").join().await?;
        ensure!(reply.status == 404, "{} {}", reply.status, reply.text);
        Ok(())
    })
    .await?;
    expect_silence(&cluster, heard).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_rooms_push_stays_at_their_shards() -> Result<()> {
    at_their_shards(Flavor::Redis7).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_rooms_push_stays_at_their_shards_of_valkey() -> Result<()> {
    if Flavor::Valkey9.is_left_out() { Ok(()) } else { at_their_shards(Flavor::Valkey9).await }
}

/// The users are those of a release that pushed to every node.
async fn without(right: &str) -> Result<()> {
    let cluster = Cluster::start(Flavor::Redis7, 0, None).await?;
    let users = Users::read()?.without(right);
    for index in 0..3 {
        users.create_at(cluster.node(index)).await?;
    }
    let deployment = Deployment::builder()
        .over(&users.controllers_url(&cluster.url()))
        .admissions_over(&users.admissions_url(&cluster.url()))
        .start()
        .await?;
    let mut heard = hear_everywhere(&cluster).await?;
    deployment.create_room("sale", &json!({ "total_active_users": 1 })).await?;
    enter(deployment.visitor("sale")).await?.leave().await?.expect(200)?;
    enter(deployment.visitor("sale")).await?;
    next(&mut heard).await?;
    let log = deployment.logs();
    let said = log.matches("every node of the Cluster gets all that rooms push").count();
    assert_eq!(said, 2, "once for each service: {log}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_may_not_push_or_listen_at_shards_pushes_to_every_node() -> Result<()> {
    without("+spublish").await?;
    without("+ssubscribe").await
}
