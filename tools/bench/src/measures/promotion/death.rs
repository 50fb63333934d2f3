//! How the primary dies, and what its replica had of it by then.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use redis::cmd;
use tokio::time::sleep;
use vestibule_tests::Sentinels;

/// For how long the replica is cut off before the primary dies. The Sentinels do not yet take it for dead.
const LAG: Duration = Duration::from_millis(300);
/// How long the replica has to take in what it was sent. Far less than it takes to be promoted.
const TAKEN_IN: Duration = Duration::from_millis(200);

/// What the replica does before the primary dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Replica {
    /// It has what the primary has, but for what is on its way.
    Follows,
    /// It was cut off.
    Lags,
}

/// The primary's end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Death {
    /// When it was killed.
    pub(super) at: Instant,
    /// When the Sentinels first named another.
    pub(super) other_named: Instant,
    /// The highest queue number that the replica had.
    pub(super) replica_had: u64,
}

// === impl Death ===

impl Death {
    /// Kills the primary of `group`, and waits until another is named.
    pub(super) async fn of(group: &mut Sentinels, room: &str, replica: Replica) -> Result<Self> {
        let mut switches = group.switches().await?;
        if replica == Replica::Lags {
            cut_off(group).await?;
            sleep(LAG).await;
        }
        let at = Instant::now();
        group.server_mut(0).kill()?;
        if replica == Replica::Lags {
            group.server(1).thaw()?;
        }
        sleep(TAKEN_IN).await;
        let mut counter = cmd("HGET");
        counter.arg(format!("vestibule:room:{{{room}}}:line")).arg("queue_counter");
        let replica_had = group.server(1).command(&counter).await.context("the replica's room")?;
        Ok(Self { at, other_named: switches.next().await?.into_std(), replica_had })
    }
}

/// The replica gets nothing more. To stop it is not enough, since what it is sent would wait for it in the sockets: the
/// primary hangs up, too, and a replica that stands still does not come back.
async fn cut_off(group: &Sentinels) -> Result<()> {
    group.server(1).freeze()?;
    let hang_up = cmd("CLIENT").arg("KILL").arg("TYPE").arg("replica").to_owned();
    let _closed: u64 = group.server(0).command(&hang_up).await?;
    Ok(())
}
