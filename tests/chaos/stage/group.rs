//! A Redis that fails over by itself: a primary and a replica that three Sentinels watch, or a Cluster of
//! three primaries with a replica each. Every server is on a host of its own, and the services find the
//! primaries themselves: no proxy is between, so everything that goes wrong here, the kernel does.

use std::{path::Path, time::Duration};

use anyhow::{Context, Result, ensure};
use futures_util::future::{join_all, try_join_all};
use redis::cmd;
use vestibule_tests::eventually;

use super::{ground::Ground, server::Server};

/// How the Sentinels call the primary.
const MASTER: &str = "vestibule";
/// After how long of silence a server is taken for dead, ms. Long enough for a machine that is busy with other
/// tests: a fail-over that nobody asked for loses what the old primary took in last.
const DOWN_AFTER_MS: u32 = 3_000;
const SENTINELS: usize = 3;
const PRIMARIES: usize = 3;
const SLOTS: usize = 16_384;
/// How long a group may take to come up, or to be whole again.
const SOON: Duration = Duration::from_secs(40);

/// The servers, and who watches them.
#[derive(Debug)]
pub(crate) struct Group {
    servers: Vec<Server>,
    sentinels: Vec<Server>,
    primaries: usize,
}

// === impl Group ===

impl Group {
    /// A primary, a replica, and Sentinels.
    pub(crate) async fn sentinels(ground: &Ground, folder: &Path) -> Result<Self> {
        let server = |name: &str| Server::new(ground.host()?, folder.join(name), false);
        let (mut primary, mut replica) = (server("redis-1")?, server("redis-2")?);
        primary.start(None).await?;
        replica.start(Some(primary.address())).await?;
        let (host, port) = (primary.address().ip(), primary.address().port());
        let watch = format!(
            "sentinel monitor {MASTER} {host} {port} 2\n\
             sentinel down-after-milliseconds {MASTER} {DOWN_AFTER_MS}\n\
             sentinel failover-timeout {MASTER} 5000\n"
        );
        let mut sentinels = Vec::new();
        for number in 1..=SENTINELS {
            let mut sentinel = server(&format!("sentinel-{number}"))?;
            sentinel.start_sentinel(&watch).await?;
            sentinels.push(sentinel);
        }
        let group = Self { servers: vec![primary, replica], sentinels, primaries: 1 };
        group.is_whole().await?;
        Ok(group)
    }

    /// A Cluster.
    pub(crate) async fn cluster(ground: &Ground, folder: &Path) -> Result<Self> {
        let mut servers = Vec::new();
        for number in 1..=2 * PRIMARIES {
            let folder = folder.join(format!("redis-{number}"));
            let mut server = Server::new(ground.host()?, folder, false)?.in_cluster(DOWN_AFTER_MS);
            server.start(None).await?;
            servers.push(server);
        }
        let group = Self { servers, sentinels: Vec::new(), primaries: PRIMARIES };
        group.meet().await?;
        group.is_whole().await?;
        Ok(group)
    }

    /// Its address, as `VESTIBULE_REDIS_URL` has it.
    pub(crate) fn url(&self) -> String {
        let list = |servers: &[Server]| {
            let hosts: Vec<_> = servers.iter().map(|server| server.address().to_string()).collect();
            hosts.join(",")
        };
        if self.sentinels.is_empty() {
            return format!("redis://{}", list(&self.servers));
        }
        format!("redis+sentinel://{}/{MASTER}", list(&self.sentinels))
    }

    /// All, Sentinels included.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Server> {
        self.servers.iter().chain(&self.sentinels)
    }

    /// The servers, and not the Sentinels.
    pub(crate) fn servers(&self) -> &[Server] {
        &self.servers
    }

    /// Starts a server again that is no primary any more.
    pub(crate) async fn start_again(&mut self, index: usize) -> Result<()> {
        let mut primary = None;
        if !self.sentinels.is_empty() {
            // A node of a Cluster knows by itself.
            let primaries = self.primaries().await;
            let other = primaries.into_iter().find(|other| *other != index);
            primary = Some(self.servers[other.context("no primary")?].address());
        }
        self.servers[index].start(primary).await
    }

    /// A server, to be killed and started.
    pub(crate) fn server_mut(&mut self, index: usize) -> &mut Server {
        &mut self.servers[index]
    }

    /// The servers that take themselves for primaries.
    pub(crate) async fn primaries(&self) -> Vec<usize> {
        let roles = join_all(self.servers.iter().map(|server| async {
            let info: Result<String> = server.ask(cmd("INFO").arg("replication")).await;
            info.is_ok_and(|info| info.contains("role:master"))
        }));
        let roles = roles.await.into_iter().enumerate();
        roles.filter_map(|(index, is_primary)| is_primary.then_some(index)).collect()
    }

    /// Waits until another server than `old` has become a primary for each that there must be.
    pub(crate) async fn fails_over(&self, old: usize) -> Result<()> {
        eventually(SOON, "a fail-over", || async {
            let primaries = self.primaries().await;
            let others = primaries.iter().filter(|primary| **primary != old).count();
            ensure!(others >= self.primaries, "{primaries:?} of {old}");
            Ok(())
        })
        .await
    }

    /// Waits until there is every primary once, each with a replica that follows, and all know it.
    pub(crate) async fn is_whole(&self) -> Result<()> {
        eventually(SOON, "a group that is whole", || async {
            let infos = try_join_all(self.servers.iter().map(|server| async {
                server.ask::<String>(cmd("INFO").arg("replication")).await
            }));
            let infos = infos.await?;
            let count = |text: &str| infos.iter().filter(|info| info.contains(text)).count();
            ensure!(count("role:master") == self.primaries, "{infos:?}");
            ensure!(count("master_link_status:up") == self.primaries, "{infos:?}");
            try_join_all(self.servers.iter().map(|server| self.knows_all(server))).await?;
            try_join_all(self.sentinels.iter().map(knows_others)).await?;
            Ok(())
        })
        .await
    }

    async fn knows_all(&self, server: &Server) -> Result<()> {
        if self.sentinels.is_empty() {
            let info: String = server.ask(cmd("CLUSTER").arg("INFO")).await?;
            ensure!(info.contains("cluster_state:ok"), "{info}");
            self.has_met_all(server).await?;
        }
        Ok(())
    }

    async fn has_met_all(&self, server: &Server) -> Result<()> {
        let nodes: String = server.ask(cmd("CLUSTER").arg("NODES")).await?;
        let met = nodes.lines().filter(|node| !node.contains("handshake")).count();
        ensure!(met == self.servers.len(), "{} has met {met}: {nodes}", server.address());
        Ok(())
    }

    async fn meet(&self) -> Result<()> {
        let (primaries, replicas) = self.servers.split_at(PRIMARIES);
        for (epoch, server) in (1_u32..).zip(&self.servers) {
            server.tell(cmd("CLUSTER").arg("SET-CONFIG-EPOCH").arg(epoch)).await?;
        }
        for server in &self.servers[1..] {
            let (host, port) = (server.address().ip().to_string(), server.address().port());
            self.servers[0].tell(cmd("CLUSTER").arg("MEET").arg(host).arg(port)).await?;
            // One after the other: a node that is just being met is not told to others.
            eventually(SOON, "a node that was met", || async {
                let nodes: String = self.servers[0].ask(cmd("CLUSTER").arg("NODES")).await?;
                let address = server.address().to_string();
                let met = nodes.lines().find(|node| node.contains(&format!("{address}@")));
                ensure!(met.is_some_and(|node| !node.contains("handshake")), "{nodes}");
                Ok(())
            })
            .await?;
        }
        eventually(SOON, "nodes that know each other", || async {
            try_join_all(self.servers.iter().map(|server| self.has_met_all(server))).await
        })
        .await?;
        for (share, server) in primaries.iter().enumerate() {
            let bound = |share: usize| SLOTS * share / PRIMARIES;
            let mut add = cmd("CLUSTER");
            add.arg("ADDSLOTSRANGE").arg(bound(share)).arg(bound(share + 1) - 1);
            server.tell(&add).await?;
        }
        for (primary, replica) in primaries.iter().zip(replicas) {
            let id: String = primary.ask(cmd("CLUSTER").arg("MYID")).await?;
            eventually(SOON, "a primary that is known", || async {
                replica.tell(cmd("CLUSTER").arg("REPLICATE").arg(&id)).await
            })
            .await?;
        }
        Ok(())
    }
}

async fn knows_others(sentinel: &Server) -> Result<()> {
    let known: std::collections::BTreeMap<String, String> =
        sentinel.ask(cmd("SENTINEL").arg("MASTER").arg(MASTER)).await?;
    let field = |name: &str| known.get(name).map(String::as_str).context("no field");
    ensure!(field("num-other-sentinels")? == "2", "{known:?}");
    ensure!(field("num-slaves")? == "1", "{known:?}");
    ensure!(field("flags")? == "master", "{known:?}");
    Ok(())
}
