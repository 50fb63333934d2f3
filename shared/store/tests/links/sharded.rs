//! Sharded channels, on one server, behind Sentinels, and on a Cluster while a slot moves.

use anyhow::{Result, ensure};
use futures_util::StreamExt;
use redis::cmd;
use tokio::time::timeout;
use vestibule_store::Link;
use vestibule_tests::{Cluster, Flavor, Redis, Sentinels};

use crate::{SOON, ask, link, on_each};

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
