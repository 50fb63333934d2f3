//! Which server processes hold the keyspace.

use std::collections::BTreeSet;

use anyhow::Result;
use vestibule_store::{Clock, Store};
use vestibule_tests::{Cluster, Flavor, Redis};

use crate::link;

/// Over a link of its own, which no restart has broken.
async fn of(url: &str) -> Result<BTreeSet<String>> {
    Ok(Store::over(link(url)?, Clock::Server).server_processes().await?)
}

#[tokio::test]
async fn a_restarted_server_is_another_process() -> Result<()> {
    for flavor in [Flavor::Redis7, Flavor::Valkey9] {
        if flavor.is_left_out() {
            continue;
        }
        let mut redis = Redis::start(flavor).await?;
        let before = of(&redis.url()).await?;
        assert_eq!(before.len(), 1);
        assert_eq!(of(&redis.url()).await?, before);
        redis.restart_empty().await?;
        let after = of(&redis.url()).await?;
        assert!(after.len() == 1 && after.is_disjoint(&before), "{after:?}, {before:?}");
    }
    Ok(())
}

#[tokio::test]
async fn each_primary_of_a_cluster_is_one() -> Result<()> {
    let cluster = Cluster::start(Flavor::Redis7, 0, None).await?;
    assert_eq!(of(&cluster.url()).await?.len(), 3);
    Ok(())
}
