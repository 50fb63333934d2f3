//! The Redis of a run: a primary, and a replica that follows it by a link of its own, so that it can be
//! made to fall behind.

use std::{
    net::SocketAddr,
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use anyhow::{Result, ensure};
use vestibule_history::ServersAre;
use vestibule_tests::eventually;

use super::{
    ground::Ground,
    link::{Link, Weather},
    server::Server,
    turns::Turns,
};

/// How long a replica may take to follow.
const FOLLOWS: Duration = Duration::from_secs(20);

/// A primary and a replica.
#[derive(Debug)]
pub(crate) struct Servers {
    primary: Server,
    replica: Server,
    /// What the replica hears the primary by.
    wire: Link,
    /// Since when the replica hears nothing, unix ms.
    behind_since: Mutex<Option<u64>>,
}

/// What Redis starts from.
#[derive(Debug, Clone, Copy)]
pub(crate) enum State<'a> {
    /// All that it had.
    Everything,
    /// Nothing.
    Nothing,
    /// A state that was kept under this name.
    Kept(&'a str),
}

// === impl Servers ===

impl Servers {
    /// Starts both.
    pub(crate) async fn start(ground: &Ground, folder: &Path, has_clock: bool) -> Result<Self> {
        let server = |name| Server::new(ground.host()?, folder.join(name), has_clock);
        let (mut primary, mut replica) = (server("redis-1")?, server("redis-2")?);
        primary.start(None).await?;
        let wire = Link::open(ground.link_address()?, primary.address()).await?;
        replica.start(Some(wire.address())).await?;
        let servers = Self { primary, replica, wire, behind_since: Mutex::default() };
        servers.replica_follows().await?;
        Ok(servers)
    }

    /// The server that is written to.
    pub(crate) fn primary(&self) -> &Server {
        &self.primary
    }

    /// Ends the primary, and starts it from this.
    pub(crate) async fn restart(&mut self, from: State<'_>) -> Result<()> {
        match from {
            State::Everything => self.primary.stop_in_order().await?,
            State::Nothing => {
                self.primary.kill()?;
                self.primary.start_from(None)?;
            }
            State::Kept(name) => {
                self.primary.kill()?;
                self.primary.start_from(Some(name))?;
            }
        }
        self.primary.start(None).await
    }

    /// Keeps the primary's state of now, and of the replica: both may be primary when it is wanted.
    pub(crate) async fn remember(&self, name: &str) -> Result<()> {
        self.primary.remember(name).await?;
        self.replica.remember(name).await
    }

    /// From now on the replica hears nothing new.
    pub(crate) async fn let_replica_fall_behind(&self, turns: &Turns) -> Result<()> {
        self.replica_follows().await?;
        self.wire.change(|weather| weather.holds_answers = true);
        *self.behind_since() = Some(turns.note(ServersAre::Lagging));
        Ok(())
    }

    /// Since when it has heard nothing, unix ms; it hears nothing from now on.
    pub(crate) fn lags_since(&self, turns: &Turns) -> u64 {
        *self.behind_since().get_or_insert_with(|| turns.note(ServersAre::Lagging))
    }

    /// The replica becomes the primary. Returns its address.
    pub(crate) async fn promote(&mut self) -> Result<SocketAddr> {
        self.replica.tell(redis::cmd("REPLICAOF").arg("NO").arg("ONE")).await?;
        std::mem::swap(&mut self.primary, &mut self.replica);
        *self.behind_since() = None;
        self.wire.lead_to(self.primary.address());
        self.wire.change(|weather| *weather = Weather::default());
        self.wire.cut();
        Ok(self.primary.address())
    }

    /// Kills the one that is not the primary, and has it follow with an empty disk.
    pub(crate) async fn replace_replica(&mut self) -> Result<()> {
        self.replica.kill()?;
        self.replica.start_from(None)?;
        self.replica.start(Some(self.wire.address())).await
    }

    /// Kills the one that is not the primary.
    pub(crate) fn kill_replica(&mut self) -> Result<()> {
        self.replica.kill()
    }

    /// Sets the clocks of both.
    pub(crate) fn set_clocks(&self, seconds: i64) -> Result<()> {
        self.primary.set_clock(seconds)?;
        self.replica.set_clock(seconds)
    }

    fn behind_since(&self) -> MutexGuard<'_, Option<u64>> {
        self.behind_since.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn replica_follows(&self) -> Result<()> {
        eventually(FOLLOWS, "a replica that follows", || async {
            let info: String = self.replica.ask(redis::cmd("INFO").arg("replication")).await?;
            ensure!(info.contains("master_link_status:up"), "{info}");
            Ok(())
        })
        .await
    }
}
