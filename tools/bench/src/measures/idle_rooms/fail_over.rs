//! How long rooms are without a leader when theirs is killed.

use std::time::Duration;

use anyhow::{Result, ensure};
use redis::aio::MultiplexedConnection;
use tokio::time::{Instant, sleep};
use vestibule_tests::{Deployment, Service};

const PATIENCE: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(20);

/// After how many seconds another controller had looked at the first of the rooms, and at all of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct FailOver {
    pub(super) first: f64,
    pub(super) all: f64,
}

/// Kills the leader.
pub(super) async fn fail_over(services: &mut Deployment, rooms: &[String]) -> Result<FailOver> {
    let mut connection = services.redis().connection().await?;
    let last = epochs(&mut connection, rooms).await?.into_iter().max().unwrap_or(0);
    let leader = services.leading().await?;
    services.kill(Service::Controller, leader)?;
    let begun = Instant::now();
    let mut first = None;
    loop {
        let later = |epoch: &u64| *epoch > last;
        let taken = epochs(&mut connection, rooms).await?.into_iter().filter(later).count();
        let now = begun.elapsed();
        if taken > 0 {
            first.get_or_insert(now);
        }
        if let Some(first) = first.filter(|_| taken == rooms.len()) {
            return Ok(FailOver { first: first.as_secs_f64(), all: now.as_secs_f64() });
        }
        ensure!(now < PATIENCE, "after {PATIENCE:?} only {taken} rooms have another leader");
        sleep(PAUSE).await;
    }
}

/// The fencing epoch of the leader that looked at each room last.
async fn epochs(connection: &mut MultiplexedConnection, rooms: &[String]) -> Result<Vec<u64>> {
    let mut read = redis::pipe();
    for room in rooms {
        read.cmd("HGET").arg(format!("vestibule:room:{{{room}}}:line")).arg("leader_epoch");
    }
    let epochs: Vec<Option<u64>> = read.query_async(connection).await?;
    Ok(epochs.into_iter().map(Option::unwrap_or_default).collect())
}
