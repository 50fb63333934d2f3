//! How long rooms are without a leader when theirs is killed.

use std::time::Duration;

use anyhow::{Result, ensure};
use redis::aio::MultiplexedConnection;
use tokio::time::{Instant, sleep};
use vestibule_tests::{Deployment, Service};

use crate::report::{Figures, Target, Unit};

/// In seconds: until another leads,
const LEADERLESS: Target = Target::AtMost(3.0);
/// and until every room has been looked at.
const SERVED: Target = Target::AtMost(5.0);
const PATIENCE: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(20);

/// After how many seconds another controller had looked at the first of the rooms, and at all of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct FailOver {
    first: f64,
    all: f64,
}

// === impl FailOver ===

impl FailOver {
    /// `figures` with these.
    pub(super) fn add_to(self, figures: Figures) -> Figures {
        figures
            .add("seconds until another leads", Unit::Number, [self.first])
            .with_target(LEADERLESS)
            .add("seconds until it has looked at every room", Unit::Number, [self.all])
            .with_target(SERVED)
    }
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
