//! A primary that Sentinels watch: it dies, hangs, or comes back as a replica.

use std::time::Duration;

use anyhow::{Result, ensure};
use futures_util::StreamExt;
use redis::cmd;
use tokio::time::{Instant, sleep, timeout};
use vestibule_store::{Link, LinkOptions, open_link};
use vestibule_tests::{Flavor, Sentinels, eventually};

use crate::{SOON, ask, get, link, on_each, set};

/// The promise: after the Sentinels are done, it takes no longer than this.
const TAKEOVER: Duration = Duration::from_secs(1);
const PAUSE: Duration = Duration::from_millis(10);

/// Writes until it works: when that was.
async fn writes_again(link: &dyn Link) -> Result<Instant> {
    let deadline = Instant::now() + SOON;
    loop {
        match set(link, "after").await {
            Ok(()) => return Ok(Instant::now()),
            Err(error) if Instant::now() > deadline => return Err(error),
            Err(_) => sleep(PAUSE).await,
        }
    }
}

async fn follows_a_fail_over(flavor: Flavor) -> Result<()> {
    let mut group = Sentinels::start(flavor).await?;
    let link = link(&group.url())?;
    set(&*link, "before").await?;
    let mut messages = link.subscribe(&["news"]).await?;
    let killed = Instant::now();
    let (switched, written) = tokio::join!(group.fail_over(), async {
        // The old primary takes writes until it is killed.
        eventually(SOON, "the end of the old primary", || async {
            ensure!(set(&*link, "before").await.is_err(), "it still lives");
            Ok(())
        })
        .await?;
        writes_again(&*link).await
    });
    let (switched, written) = (switched?, written?);
    let took = written.saturating_duration_since(switched);
    eprintln!("{flavor:?}: the Sentinels took {:?}, the link {took:?} more", switched - killed);
    ensure!(took <= TAKEOVER, "the link took {took:?} more than the Sentinels");
    ensure!(timeout(SOON, messages.next()).await?.is_none(), "it listens to the dead");
    let mut messages = link.subscribe(&["news"]).await?;
    ask::<u64>(&*link, cmd("PUBLISH").arg("news").arg("x")).await?;
    ensure!(timeout(SOON, messages.next()).await?.is_some(), "no message");
    let role: (String, redis::Value, redis::Value) = ask(&*link, &cmd("ROLE")).await?;
    assert_eq!(role.0, "master");
    Ok(())
}

#[tokio::test]
async fn calls_and_subscriptions_follow_a_fail_over() -> Result<()> {
    on_each(follows_a_fail_over).await
}

/// Calls that were under way to it end when the Sentinels say so, and not when their time is over.
#[tokio::test]
async fn calls_to_a_primary_that_hangs_end_with_the_fail_over() -> Result<()> {
    let group = Sentinels::start(Flavor::Redis7).await?;
    let patient = LinkOptions::new(2 * SOON);
    let link = open_link(&group.url().parse()?, &patient)?;
    set(&*link, "before").await?;
    let mut told = group.switches().await?;
    group.server(0).freeze()?;
    let hangs = timeout(SOON, set(&*link, "hangs"));
    let (hung, switched) = tokio::join!(hangs, told.next());
    let took = Instant::now() - switched?;
    ensure!(hung?.is_err(), "somebody answered");
    ensure!(took <= TAKEOVER, "it took {took:?} more than the Sentinels");
    timeout(SOON, set(&*link, "after")).await??;
    group.server(0).thaw()
}

/// Its connections stay open, and nobody answers on them: only the Sentinels know.
#[tokio::test]
async fn a_primary_that_hangs_is_left() -> Result<()> {
    let group = Sentinels::start(Flavor::Redis7).await?;
    let link = link(&group.url())?;
    set(&*link, "before").await?;
    let mut messages = link.subscribe(&["news"]).await?;
    let mut told = group.switches().await?;
    group.server(0).freeze()?;
    let switched = told.next().await?;
    let took = writes_again(&*link).await?.saturating_duration_since(switched);
    ensure!(took <= TAKEOVER, "the link took {took:?} more than the Sentinels");
    ensure!(timeout(SOON, messages.next()).await?.is_none(), "it listens to one who hangs");
    group.server(0).thaw()
}

/// Somebody makes it a replica by hand: nobody fails over, and every Sentinel still names it until they
/// have made up their minds.
#[tokio::test]
async fn a_primary_that_became_a_replica_is_left_at_once() -> Result<()> {
    let group = Sentinels::start(Flavor::Redis7).await?;
    let link = link(&group.url())?;
    set(&*link, "before").await?;
    let mut failover = cmd("SENTINEL");
    failover.arg("FAILOVER").arg("vestibule");
    let mut told = group.switches().await?;
    group.sentinel(0).command::<()>(&failover).await?;
    let switched = told.next().await?;
    let took = writes_again(&*link).await?.saturating_duration_since(switched);
    ensure!(took <= TAKEOVER, "the link took {took:?} more than the Sentinels");
    assert_eq!(get(&*link, "before").await?.as_deref(), Some("before"));
    let role: (String, redis::Value, redis::Value) = ask(&*link, &cmd("ROLE")).await?;
    assert_eq!(role.0, "master");
    group.follows(0).await?;
    assert_eq!(group.primary().await?, 1);
    set(&*link, "and now").await?;
    let found: Option<String> = group.server(1).command(cmd("GET").arg("and now")).await?;
    ensure!(found.is_some(), "it was written to the replica");
    Ok(())
}

#[tokio::test]
async fn one_sentinel_of_three_is_enough_to_begin_with() -> Result<()> {
    let mut group = Sentinels::start(Flavor::Redis7).await?;
    group.sentinel_mut(0).kill()?;
    group.sentinel(1).freeze()?;
    let link = link(&group.url())?;
    set(&*link, "x").await?;
    group.sentinel(1).thaw()?;
    let wrong = link_to_another_master(&group.url())?;
    ensure!(set(&*wrong, "x").await.is_err(), "there is no such master");
    Ok(())
}

fn link_to_another_master(url: &str) -> Result<std::sync::Arc<dyn Link>> {
    link(&url.replace("/vestibule?", "/another?"))
}
