//! The links to real servers: what breaks between a service and its Redis, and how soon it goes on.
//!
//! Whole services over such servers are in `tests/servers`.

mod cluster;
mod encrypted;
mod processes;
mod pushes;
mod replicated;
mod sentinels;
mod sharded;
mod silent;

use std::{sync::Arc, time::Duration};

use anyhow::Result;
use redis::{Cmd, FromRedisValue};
use vestibule_store::{Link, LinkOptions, open_link};
use vestibule_tests::Flavor;

/// How long a server may take to answer.
const TIMEOUT: Duration = Duration::from_secs(1);
/// How long anything may take on a machine that is busy with other tests.
const SOON: Duration = Duration::from_secs(30);

fn link(url: &str) -> Result<Arc<dyn Link>> {
    Ok(open_link(&url.parse()?, &LinkOptions::new(TIMEOUT))?)
}

async fn ask<T: FromRedisValue>(link: &dyn Link, command: &Cmd) -> Result<T> {
    let reply = link.call(command).await?.extract_error()?;
    Ok(redis::from_redis_value(reply)?)
}

async fn set(link: &dyn Link, key: &str) -> Result<()> {
    ask(link, redis::cmd("SET").arg(key).arg(key)).await
}

async fn get(link: &dyn Link, key: &str) -> Result<Option<String>> {
    ask(link, redis::cmd("GET").arg(key)).await
}

/// What is tested on Redis is tested on Valkey, too, where there is one.
async fn on_each<F: Future<Output = Result<()>>>(test: impl Fn(Flavor) -> F) -> Result<()> {
    test(Flavor::Redis7).await?;
    if Flavor::Valkey9.is_left_out() { Ok(()) } else { test(Flavor::Valkey9).await }
}
