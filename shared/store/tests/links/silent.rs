//! Subscriptions whose other side vanishes without a word.

use anyhow::{Result, ensure};
use futures_util::StreamExt;
use redis::cmd;
use tokio::time::{Instant, timeout};
use vestibule_tests::{Flavor, FrozenProxy, Redis};

use crate::{SOON, TIMEOUT, ask, link};

/// Twice a second it is asked whether anybody is there.
const NOTICED: std::time::Duration =
    TIMEOUT.saturating_add(std::time::Duration::from_millis(1_500));

fn address(redis: &Redis) -> String {
    redis.url().trim_start_matches("redis://").to_owned()
}

#[tokio::test]
async fn a_subscription_to_a_server_that_vanished_ends() -> Result<()> {
    let redis = Redis::start(Flavor::Redis7).await?;
    let proxy = FrozenProxy::start(&address(&redis)).await?;
    let (near, far) = (link(&redis.url())?, link(&format!("redis://{}", proxy.address()))?);
    let mut messages = far.subscribe(&["a", "b"]).await?;
    ask::<u64>(&*near, cmd("PUBLISH").arg("b").arg("news")).await?;
    let first = timeout(SOON, messages.next()).await?.expect("a message");
    assert_eq!((first.channel.as_str(), first.payload.as_str()), ("b", "news"));
    proxy.freeze();
    let frozen = Instant::now();
    ensure!(timeout(SOON, messages.next()).await?.is_none(), "a message from nowhere");
    ensure!(frozen.elapsed() < NOTICED, "noticed after {:?}", frozen.elapsed());
    let again = timeout(SOON, far.subscribe(&["a"])).await?;
    ensure!(again.is_err(), "nobody is there");
    proxy.thaw();
    drop(far.subscribe(&["a"]).await?);
    Ok(())
}

#[tokio::test]
async fn a_subscription_without_messages_stays() -> Result<()> {
    let redis = Redis::start(Flavor::Redis7).await?;
    let link = link(&redis.url())?;
    let mut messages = link.subscribe(&["a"]).await?;
    // Longer than a server may be silent.
    let nothing = timeout(2 * NOTICED, messages.next()).await;
    ensure!(nothing.is_err(), "{nothing:?}");
    ask::<u64>(&*link, cmd("PUBLISH").arg("a").arg("late")).await?;
    assert_eq!(timeout(SOON, messages.next()).await?.expect("a message").payload, "late");
    Ok(())
}

#[tokio::test]
async fn a_call_to_a_server_that_vanished_fails_and_the_next_one_opens_a_connection() -> Result<()>
{
    let redis = Redis::start(Flavor::Redis7).await?;
    let proxy = FrozenProxy::start(&address(&redis)).await?;
    let link = link(&format!("redis://{}", proxy.address()))?;
    ask::<()>(&*link, &cmd("PING")).await?;
    proxy.freeze();
    ensure!(ask::<()>(&*link, &cmd("PING")).await.is_err(), "nobody is there");
    proxy.thaw();
    ask::<()>(&*link, &cmd("PING")).await
}
