//! A primary, its replica, and three Sentinels that watch them: one dies, and the other takes over.
//!
//! Sentinels keep the addresses that they find in their own files, so this is one group for one test; it
//! is not started again as a whole.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use futures_util::future::try_join_all;
use redis::{AsyncConnectionConfig, PushInfo, PushKind, cmd};
use tokio::{
    sync::mpsc::{UnboundedReceiver, unbounded_channel},
    time::Instant,
};

use crate::{Flavor, node::Node, wait::eventually};

/// How the Sentinels call the primary.
const MASTER: &str = "vestibule";

const PASSWORD: &str = "of-the-servers";
const SENTINEL_PASSWORD: &str = "of-the-sentinels";
/// How long a server may be silent before a Sentinel takes it for dead.
const DOWN_AFTER_MS: u32 = 1_000;
const SOON: Duration = Duration::from_secs(30);

/// The whole group.
#[derive(Debug)]
pub struct Sentinels {
    servers: [Node; 2],
    sentinels: Vec<Node>,
}

/// What the Sentinels say about fail-overs.
#[derive(Debug)]
pub struct Switches(UnboundedReceiver<(Instant, PushInfo)>);

// === impl Sentinels ===

impl Sentinels {
    /// Starts everything, and waits until the Sentinels know each other and the replica.
    pub async fn start(flavor: Flavor) -> Result<Self> {
        let with_password = vec![format!("masterauth {PASSWORD}"), "save \"\"".to_owned()];
        let primary = Node::start(flavor, Some(PASSWORD), &with_password).await?;
        let follows = format!("replicaof 127.0.0.1 {}", primary.port());
        let of_replica = [with_password, vec![follows]].concat();
        let replica = Node::start(flavor, Some(PASSWORD), &of_replica).await?;
        let watch = watching(&primary);
        let sentinels = try_join_all(
            (0..3).map(|_| Node::start_sentinel(flavor, Some(SENTINEL_PASSWORD), &watch)),
        )
        .await?;
        let group = Self { servers: [primary, replica], sentinels };
        eventually(SOON, "Sentinels that know everybody", || group.is_complete()).await?;
        Ok(group)
    }

    /// The address, as `VESTIBULE_REDIS_URL` has it.
    #[must_use]
    pub fn url(&self) -> String {
        let hosts: Vec<_> = self.sentinels.iter().map(Node::address).collect();
        format!(
            "redis+sentinel://:{PASSWORD}@{}/{MASTER}?sentinel_password={SENTINEL_PASSWORD}",
            hosts.join(",")
        )
    }

    /// The servers: at first the first one is the primary.
    #[must_use]
    pub fn server(&self, index: usize) -> &Node {
        &self.servers[index]
    }

    /// A server, to be killed or started again.
    pub fn server_mut(&mut self, index: usize) -> &mut Node {
        &mut self.servers[index]
    }

    /// A Sentinel.
    #[must_use]
    pub fn sentinel(&self, index: usize) -> &Node {
        &self.sentinels[index]
    }

    /// A Sentinel, to be killed or started again.
    pub fn sentinel_mut(&mut self, index: usize) -> &mut Node {
        &mut self.sentinels[index]
    }

    /// Which server the Sentinel that answers first takes for the primary.
    pub async fn primary(&self) -> Result<usize> {
        let mut last = anyhow::anyhow!("no Sentinel");
        for sentinel in &self.sentinels {
            match primary_by(sentinel).await {
                Ok(port) => return self.index_of(port),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// Waits until `index` follows the other server, up to its last write.
    pub async fn follows(&self, index: usize) -> Result<()> {
        eventually(SOON, "a replica that has caught up", || async {
            let server = &self.servers[index];
            ensure!(server.info("role").await? == "slave", "it is a primary");
            ensure!(server.info("master_link_status").await? == "up", "its link is down");
            Ok(())
        })
        .await
    }

    /// Listens to fail-overs from now on.
    pub async fn switches(&self) -> Result<Switches> {
        let (sender, switches) = unbounded_channel();
        for sentinel in &self.sentinels {
            let sender = sender.clone();
            let told =
                move |push| sender.send((Instant::now(), push)).map_err(|_| redis::aio::SendError);
            let config = AsyncConnectionConfig::new().set_push_sender(told);
            let mut connection = sentinel.connection_with(config).await?;
            connection.subscribe("+switch-master").await?;
            // It lasts as long as the connection, which nobody needs to see again.
            tokio::spawn(async move {
                let _connection = connection;
                std::future::pending::<()>().await;
            });
        }
        Ok(Switches(switches))
    }

    /// Kills the primary, and waits until the Sentinels say that another one is there: when they first
    /// did.
    pub async fn fail_over(&mut self) -> Result<Instant> {
        let mut switches = self.switches().await?;
        let primary = self.primary().await?;
        self.servers[primary].kill()?;
        switches.next().await
    }

    fn index_of(&self, port: u16) -> Result<usize> {
        let found = self.servers.iter().position(|server| server.port() == port);
        found.with_context(|| format!("no server of this group has the port {port}"))
    }

    async fn is_complete(&self) -> Result<()> {
        for sentinel in &self.sentinels {
            let known: std::collections::BTreeMap<String, String> =
                sentinel.command(cmd("SENTINEL").arg("MASTER").arg(MASTER)).await?;
            let field = |name: &str| known.get(name).map(String::as_str);
            ensure!(field("num-other-sentinels") == Some("2"), "{known:?}");
            ensure!(field("num-slaves") == Some("1"), "{known:?}");
            ensure!(field("flags") == Some("master"), "{known:?}");
        }
        self.follows(1).await
    }
}

// === impl Switches ===

impl Switches {
    /// When the next fail-over was told first.
    pub async fn next(&mut self) -> Result<Instant> {
        loop {
            let told = tokio::time::timeout(SOON, self.0.recv()).await;
            let (at, push) = told.context("no fail-over")?.context("no Sentinel is left")?;
            if push.kind == PushKind::Message {
                return Ok(at);
            }
        }
    }
}

fn watching(primary: &Node) -> Vec<String> {
    vec![
        format!("sentinel monitor {MASTER} 127.0.0.1 {} 2", primary.port()),
        format!("sentinel auth-pass {MASTER} {PASSWORD}"),
        format!("sentinel down-after-milliseconds {MASTER} {DOWN_AFTER_MS}"),
        format!("sentinel failover-timeout {MASTER} 5000"),
        format!("sentinel sentinel-pass {SENTINEL_PASSWORD}"),
    ]
}

async fn primary_by(sentinel: &Node) -> Result<u16> {
    let mut asked = cmd("SENTINEL");
    asked.arg("GET-MASTER-ADDR-BY-NAME").arg(MASTER);
    let (_host, port): (String, String) = sentinel.command(&asked).await?;
    Ok(port.parse()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_replica_takes_over_and_the_old_primary_follows_it() -> Result<()> {
        let mut group = Sentinels::start(Flavor::Redis7).await?;
        assert_eq!(group.primary().await?, 0);
        group.fail_over().await?;
        eventually(SOON, "the other primary", || async {
            ensure!(group.primary().await? == 1, "not yet");
            ensure!(group.server(1).info("role").await? == "master", "not yet");
            Ok(())
        })
        .await?;
        group.server_mut(0).restart().await?;
        group.follows(0).await
    }
}
