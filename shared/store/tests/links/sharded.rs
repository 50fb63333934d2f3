//! Sharded channels, on one server, behind Sentinels, and on a Cluster while a slot moves.

use std::sync::Arc;

use anyhow::{Result, ensure};
use futures_util::StreamExt;
use redis::{Script, cmd};
use tokio::time::timeout;
use vestibule_store::Link;
use vestibule_tests::{Cluster, Flavor, Redis, Sentinels};

use crate::{SOON, ask, cluster::Caller, link, on_each};

async fn publish(link: &dyn Link, channel: &str) -> Result<u64> {
    ask(link, cmd("SPUBLISH").arg(channel).arg(channel)).await
}

async fn hears(link: &dyn Link, channels: &[&str]) -> Result<()> {
    let names: Vec<String> = channels.iter().map(|name| (*name).to_owned()).collect();
    let mut messages = link.subscribe_sharded(&names).await?;
    for channel in channels {
        ensure!(publish(link, channel).await? > 0, "nobody listens to {channel}");
        let heard = timeout(SOON, messages.next()).await?.expect("a message");
        assert_eq!((heard.channel.as_str(), heard.payload.as_str()), (*channel, *channel));
    }
    Ok(())
}

async fn of_one_server(flavor: Flavor) -> Result<()> {
    let redis = Redis::start(flavor).await?;
    hears(&*link(&redis.url())?, &["a", "b"]).await
}

#[tokio::test]
async fn one_server_has_sharded_channels() -> Result<()> {
    on_each(of_one_server).await
}

#[tokio::test]
async fn a_primary_behind_sentinels_has_sharded_channels() -> Result<()> {
    let group = Sentinels::start(Flavor::Redis7).await?;
    hears(&*link(&group.url())?, &["a", "b"]).await
}

async fn of_a_cluster(flavor: Flavor) -> Result<()> {
    let cluster = Cluster::start(flavor, 0, None).await?;
    let link = link(&cluster.url())?;
    let names = ["vestibule:{a}", "vestibule:{b}", "vestibule:{c}", "vestibule:{d}"];
    hears(&*link, &names).await?;
    let channels = names.map(str::to_owned);
    let mut messages = link.subscribe_sharded(&channels).await?;
    let slot = cluster.slot_of(names[2]).await?;
    let from = cluster.owner_of(slot).await?;
    cluster.move_slot(slot, (from + 1) % 3).await?;
    ensure!(timeout(SOON, messages.next()).await?.is_none(), "it listens to the old owner");
    hears(&*link, &names).await
}

#[tokio::test]
async fn the_owner_of_each_slot_has_its_channels_and_a_moved_one_ends_the_stream() -> Result<()> {
    on_each(of_a_cluster).await
}

/// Writes, and then pushes: how many writes there were.
async fn write_and_push(link: &Arc<dyn Link>) -> Result<u64> {
    let text = "local count = redis.call('INCR', KEYS[1]) redis.call('SPUBLISH', KEYS[1], 'x') return count";
    let script = Script::new(text);
    let call = script.key("{a}:count");
    Ok(call.invoke_async(&mut Caller(Arc::clone(link))).await?)
}

async fn of_a_slot_on_its_way(flavor: Flavor) -> Result<()> {
    let cluster = Cluster::start(flavor, 0, None).await?;
    let link = link(&cluster.url())?;
    assert_eq!(write_and_push(&link).await?, 1);
    let slot = cluster.slot_of("{a}").await?;
    let from = cluster.owner_of(slot).await?;
    let to = (from + 1) % 3;
    cluster.begin_move(slot, from, to).await?;
    assert_eq!(write_and_push(&link).await?, 2);
    while cluster.move_some_keys(slot, from, to).await? > 0 {}
    // Now who asks the new owner has to say that it knows.
    assert_eq!(write_and_push(&link).await?, 3);
    cluster.finish_move(slot, from, to).await?;
    assert_eq!(write_and_push(&link).await?, 4);
    Ok(())
}

/// Not to push would be an error in the middle of the script.
#[tokio::test]
async fn a_script_may_push_on_every_step_of_its_slot() -> Result<()> {
    on_each(of_a_slot_on_its_way).await
}
