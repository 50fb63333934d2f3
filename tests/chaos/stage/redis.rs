//! The Redis of a run, in one of the forms in which people run it.

use std::{path::Path, str::FromStr};

use anyhow::Result;

use super::{
    ground::{Ground, Host},
    group::Group,
    instance::Way,
    link::Link,
    server::Server,
    servers::Servers,
};

/// In which form Redis is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Topology {
    /// A primary at an address that moves to the replica when that takes over.
    Pair,
    /// A primary and a replica, and Sentinels that the services ask for the primary.
    Sentinels,
    /// A Cluster.
    Cluster,
}

/// Redis.
#[derive(Debug)]
pub(crate) enum Redis {
    Pair(Box<Servers>),
    Group(Group),
}

// === impl Topology ===

impl Topology {
    /// All of them.
    pub(crate) const ALL: &[Self] = &[Self::Pair, Self::Sentinels, Self::Cluster];

    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Pair => "pair",
            Self::Sentinels => "sentinels",
            Self::Cluster => "cluster",
        }
    }
}

impl FromStr for Topology {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.iter().copied().find(|topology| topology.name() == text);
        found.ok_or_else(|| format!("`{text}` is none of pair, sentinels, cluster"))
    }
}

// === impl Redis ===

impl Redis {
    /// Starts it.
    pub(super) async fn start(
        topology: Topology,
        ground: &Ground,
        folder: &Path,
        clocks: bool,
    ) -> Result<Self> {
        Ok(match topology {
            Topology::Pair => Self::Pair(Box::new(Servers::start(ground, folder, clocks).await?)),
            Topology::Sentinels => Self::Group(Group::sentinels(ground, folder).await?),
            Topology::Cluster => Self::Group(Group::cluster(ground, folder).await?),
        })
    }

    /// How one more instance gets there.
    pub(super) async fn way(&self, ground: &Ground) -> Result<Way> {
        Ok(match self {
            Self::Pair(servers) => {
                Way::Link(Link::open(ground.link_address()?, servers.primary().address()).await?)
            }
            Self::Group(group) => Way::Found(group.url()),
        })
    }

    /// The hosts that instances find by themselves.
    pub(super) fn hosts(&self) -> Vec<Host> {
        match self {
            Self::Pair(_) => Vec::new(),
            Self::Group(group) => group.all().map(Server::host).cloned().collect(),
        }
    }
}
