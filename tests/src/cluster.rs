//! A Cluster of three primaries, each with a replica if the test asks for it, and a slot that moves from
//! one to another while it is used.
//!
//! Made with CLUSTER commands, so no command-line tool is needed.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use futures_util::future::try_join_all;
use redis::cmd;

use crate::{Flavor, node::Node, ports, wait::eventually};

const PRIMARIES: u16 = 3;
const SLOTS: u16 = 16_384;
/// After how long of silence nodes take each other for dead.
const NODE_TIMEOUT_MS: u32 = 1_000;
const SOON: Duration = Duration::from_secs(30);
const MOVED_AT_ONCE: u32 = 10;
const MOVE_TIMEOUT_MS: u32 = 5_000;

/// All nodes; the primaries first.
#[derive(Debug)]
pub struct Cluster {
    nodes: Vec<Node>,
    password: Option<String>,
}

// === impl Cluster ===

impl Cluster {
    /// Three primaries, and `replicas` (0 or 1) for each of them.
    pub async fn start(flavor: Flavor, replicas: u16, password: Option<&str>) -> Result<Self> {
        let starting = (0..PRIMARIES * (1 + replicas)).map(|_| {
            // Without this, the nodes' own port is theirs for clients and ten thousand.
            let bus = ports::free();
            let mut options = vec![
                "cluster-enabled yes".to_owned(),
                format!("cluster-port {bus}"),
                format!("cluster-node-timeout {NODE_TIMEOUT_MS}"),
                "cluster-config-file nodes.conf".to_owned(),
                "save \"\"".to_owned(),
            ];
            options.extend(password.map(|password| format!("masterauth {password}")));
            async move {
                let node = Node::start(flavor, password, &options).await?;
                Ok::<_, anyhow::Error>((node, bus))
            }
        });
        let (nodes, buses): (Vec<_>, Vec<_>) = try_join_all(starting).await?.into_iter().unzip();
        let cluster = Self { nodes, password: password.map(str::to_owned) };
        cluster.meet(&buses).await?;
        cluster.share_slots().await?;
        cluster.has_come_up().await?;
        cluster.give_replicas().await?;
        cluster.has_come_up().await?;
        Ok(cluster)
    }

    /// The addresses of all primaries, as `VESTIBULE_REDIS_URL` has them.
    #[must_use]
    pub fn url(&self) -> String {
        let primaries = &self.nodes[..usize::from(PRIMARIES)];
        let hosts: Vec<_> = primaries.iter().map(Node::address).collect();
        format!("redis://{}{}", self.credentials(), hosts.join(","))
    }

    /// The address of one node only.
    #[must_use]
    pub fn url_of(&self, index: usize) -> String {
        format!("redis://{}{}", self.credentials(), self.nodes[index].address())
    }

    /// A node: three primaries, then their replicas in the same order.
    #[must_use]
    pub fn node(&self, index: usize) -> &Node {
        &self.nodes[index]
    }

    /// A node, to be killed or started again.
    pub fn node_mut(&mut self, index: usize) -> &mut Node {
        &mut self.nodes[index]
    }

    /// The slot of a key.
    pub async fn slot_of(&self, key: &str) -> Result<u16> {
        self.any()?.command(cmd("CLUSTER").arg("KEYSLOT").arg(key)).await
    }

    /// Which node owns a slot, as the first node that answers knows it.
    pub async fn owner_of(&self, slot: u16) -> Result<usize> {
        let port = owner_by(self.any()?, slot).await?;
        self.index_of(port)
    }

    /// How many listen to a sharded channel at each node, in their order; at one that does not run: none.
    pub async fn sharded_listeners(&self, channel: &str) -> Result<Vec<u64>> {
        let mut asked = cmd("PUBSUB");
        asked.arg("SHARDNUMSUB").arg(channel);
        let at_each = self.nodes.iter().map(|node| async {
            if !node.runs() {
                return Ok(0);
            }
            let (_channel, count): (String, u64) = node.command(&asked).await?;
            Ok(count)
        });
        try_join_all(at_each).await
    }

    /// Moves a slot with all of its keys to another primary, while the cluster is used.
    pub async fn move_slot(&self, slot: u16, to: usize) -> Result<()> {
        let from = self.owner_of(slot).await?;
        ensure!(from != to, "the slot is there already");
        self.begin_move(slot, from, to).await?;
        while self.move_some_keys(slot, from, to).await? > 0 {}
        self.finish_move(slot, from, to).await
    }

    /// The first step: keys that are not at `from` any more are looked for at `to`.
    pub async fn begin_move(&self, slot: u16, from: usize, to: usize) -> Result<()> {
        let (from_id, to_id) = (self.id(from).await?, self.id(to).await?);
        self.set_slot(to, slot, &["IMPORTING", &from_id]).await?;
        self.set_slot(from, slot, &["MIGRATING", &to_id]).await
    }

    /// The second step, several times: moves a few keys, and tells how many.
    pub async fn move_some_keys(&self, slot: u16, from: usize, to: usize) -> Result<usize> {
        let mut listed = cmd("CLUSTER");
        listed.arg("GETKEYSINSLOT").arg(slot).arg(MOVED_AT_ONCE);
        let keys: Vec<String> = self.nodes[from].command(&listed).await?;
        if keys.is_empty() {
            return Ok(0);
        }
        let mut migrate = cmd("MIGRATE");
        migrate.arg("127.0.0.1").arg(self.nodes[to].port()).arg("").arg(0).arg(MOVE_TIMEOUT_MS);
        if let Some(password) = &self.password {
            migrate.arg("AUTH").arg(password);
        }
        let _: redis::Value = self.nodes[from].command(migrate.arg("KEYS").arg(&keys)).await?;
        Ok(keys.len())
    }

    /// The last step: `to` owns the slot.
    pub async fn finish_move(&self, slot: u16, from: usize, to: usize) -> Result<()> {
        let to_id = self.id(to).await?;
        for index in [to, from] {
            self.set_slot(index, slot, &["NODE", &to_id]).await?;
        }
        eventually(SOON, "a slot that every node knows in its new place", || async {
            for node in &self.nodes {
                let owner = self.index_of(owner_by(node, slot).await?)?;
                ensure!(owner == to, "{} says {owner}", node.address());
            }
            Ok(())
        })
        .await
    }

    async fn set_slot(&self, index: usize, slot: u16, rest: &[&str]) -> Result<()> {
        let mut set = cmd("CLUSTER");
        self.nodes[index].command(set.arg("SETSLOT").arg(slot).arg(rest)).await
    }

    async fn id(&self, index: usize) -> Result<String> {
        self.nodes[index].command(cmd("CLUSTER").arg("MYID")).await
    }

    /// A node that runs.
    fn any(&self) -> Result<&Node> {
        self.nodes.iter().find(|node| node.runs()).context("no node runs")
    }

    fn index_of(&self, port: u16) -> Result<usize> {
        let found = self.nodes.iter().position(|node| node.port() == port);
        found.with_context(|| format!("no node has the port {port}"))
    }

    fn credentials(&self) -> String {
        self.password.as_ref().map(|password| format!(":{password}@")).unwrap_or_default()
    }

    async fn meet(&self, buses: &[u16]) -> Result<()> {
        for (epoch, node) in (1..).zip(&self.nodes) {
            let mut set = cmd("CLUSTER");
            node.command::<()>(set.arg("SET-CONFIG-EPOCH").arg(epoch)).await?;
        }
        for (node, bus) in self.nodes.iter().zip(buses) {
            let mut meet = cmd("CLUSTER");
            meet.arg("MEET").arg("127.0.0.1").arg(node.port()).arg(bus);
            self.nodes[0].command::<()>(&meet).await?;
        }
        Ok(())
    }

    async fn share_slots(&self) -> Result<()> {
        let bound = |share: u16| u32::from(SLOTS) * u32::from(share) / u32::from(PRIMARIES);
        for (share, node) in (0..PRIMARIES).zip(&self.nodes) {
            let mut add = cmd("CLUSTER");
            add.arg("ADDSLOTSRANGE").arg(bound(share)).arg(bound(share + 1) - 1);
            node.command::<()>(&add).await?;
        }
        Ok(())
    }

    async fn give_replicas(&self) -> Result<()> {
        let (primaries, replicas) = self.nodes.split_at(usize::from(PRIMARIES));
        for (index, replica) in (0..primaries.len()).zip(replicas) {
            let id = self.id(index).await?;
            replica.command::<()>(cmd("CLUSTER").arg("REPLICATE").arg(id)).await?;
        }
        for (primary, replica) in primaries.iter().zip(replicas) {
            eventually(SOON, "a replica that follows", || primary.has_replica(replica)).await?;
        }
        Ok(())
    }

    /// Waits until every node says that all is well, and knows all others.
    async fn has_come_up(&self) -> Result<()> {
        eventually(SOON, "a cluster that is up", || async {
            for node in &self.nodes {
                let info: String = node.command(cmd("CLUSTER").arg("INFO")).await?;
                ensure!(info.contains("cluster_state:ok"), "{info}");
                let all = format!("cluster_known_nodes:{}\r", self.nodes.len());
                ensure!(info.contains(&all), "{info}");
            }
            Ok(())
        })
        .await
    }
}

async fn owner_by(node: &Node, slot: u16) -> Result<u16> {
    // Each is: first slot, last slot, the primary, its replicas.
    let ranges: Vec<Vec<redis::Value>> = node.command(cmd("CLUSTER").arg("SLOTS")).await?;
    for range in ranges {
        let [first, last, primary, ..] = &range[..] else { continue };
        let bound = |value: &redis::Value| redis::from_redis_value::<u16>(value.clone());
        if (bound(first)?..=bound(last)?).contains(&slot) {
            let (_host, port, _id, _more): (String, u16, String, redis::Value) =
                redis::from_redis_value(primary.clone())?;
            return Ok(port);
        }
    }
    anyhow::bail!("nobody owns {slot}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_slot_moves_with_its_keys() -> Result<()> {
        let cluster = Cluster::start(Flavor::Redis7, 0, Some("secret")).await?;
        let slot = cluster.slot_of("{room}:a").await?;
        let from = cluster.owner_of(slot).await?;
        let set = |key: &str| cmd("SET").arg(key).arg(key).to_owned();
        cluster.node(from).command::<()>(&set("{room}:a")).await?;
        cluster.node(from).command::<()>(&set("{room}:b")).await?;
        let to = (from + 1) % 3;
        cluster.move_slot(slot, to).await?;
        assert_eq!(cluster.owner_of(slot).await?, to);
        let found: String = cluster.node(to).command(cmd("GET").arg("{room}:b")).await?;
        assert_eq!(found, "{room}:b");
        let gone = cluster.node(from).command::<String>(cmd("GET").arg("{room}:b")).await;
        ensure!(gone.is_err(), "it is still there");
        Ok(())
    }

    #[tokio::test]
    async fn a_replica_takes_over() -> Result<()> {
        let mut cluster = Cluster::start(Flavor::Redis7, 1, None).await?;
        cluster.node_mut(0).kill()?;
        eventually(SOON, "another owner", || async {
            ensure!(cluster.owner_of(0).await? == 3, "not yet");
            Ok(())
        })
        .await
    }
}
