//! The nodes of a Cluster: a link to each that was ever needed and still is, and the map of slots, which is
//! read anew when a node says that it is wrong, or cannot be reached.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use arc_swap::ArcSwap;
use futures_util::{StreamExt, stream};
use redis::RedisError;
use tokio::time::Instant;

use super::slots::SlotMap;
use crate::link::{
    access::Access, address::Host, node::NodeLink, opener::Expected, replicated::Shortfalls,
};

/// So many nodes are asked for the map at a time; the first answer counts.
const ASKED_TOGETHER: usize = 3;
/// The map is not read more often than this, however many calls find it wrong.
const PAUSE: Duration = Duration::from_millis(50);

/// All nodes.
#[derive(Debug)]
pub(super) struct Nodes {
    /// From which all others are learnt.
    seeds: Vec<Host>,
    access: Access,
    shortfalls: Arc<Shortfalls>,
    links: Mutex<BTreeMap<Host, Arc<NodeLink>>>,
    slots: ArcSwap<SlotMap>,
    /// How the map was last read; locked while it is.
    reading: tokio::sync::Mutex<Reading>,
}

/// How the map was last read.
#[derive(Debug, Default)]
struct Reading {
    /// When it last came.
    read_at: Option<Instant>,
    /// When it last did not come, and why.
    failed: Option<(Instant, RedisError)>,
}

// === impl Nodes ===

impl Nodes {
    /// Nothing is connected yet.
    pub(super) fn new(seeds: Vec<Host>, access: &Access, shortfalls: &Arc<Shortfalls>) -> Self {
        Self {
            seeds,
            access: access.clone(),
            shortfalls: Arc::clone(shortfalls),
            links: Mutex::default(),
            slots: ArcSwap::default(),
            reading: tokio::sync::Mutex::default(),
        }
    }

    /// The map as it was last read.
    pub(super) fn slots(&self) -> Arc<SlotMap> {
        self.slots.load_full()
    }

    /// The map, read now if it never was.
    pub(super) async fn known_slots(&self) -> Result<Arc<SlotMap>, RedisError> {
        if self.slots.load().primaries().is_empty() {
            self.refresh(None).await?;
        }
        Ok(self.slots())
    }

    /// The link to a node.
    pub(super) fn link(&self, host: &Host) -> Result<Arc<NodeLink>, RedisError> {
        let mut links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(link) = links.get(host) {
            return Ok(Arc::clone(link));
        }
        let link = NodeLink::new(host.clone(), &self.access, Expected::Node, &self.shortfalls)?;
        let link = Arc::new(link);
        links.insert(host.clone(), Arc::clone(&link));
        Ok(link)
    }

    /// Reads the map anew. `doubted`, who cannot be reached or was wrong, is asked last. Callers that waited for a reading
    /// that failed share its error, as in [`NodeLink::connect`].
    pub(super) async fn refresh(&self, doubted: Option<&Host>) -> Result<(), RedisError> {
        let asked_at = Instant::now();
        let mut reading = self.reading.lock().await;
        if reading.read_at.is_some_and(|at| at + PAUSE > asked_at) {
            return Ok(());
        }
        if let Some((at, error)) = &reading.failed
            && *at >= asked_at
        {
            return Err(error.clone());
        }
        match self.read(doubted).await {
            Ok(map) => {
                self.forget_all_but(&map);
                self.slots.store(Arc::new(map));
                *reading = Reading { read_at: Some(Instant::now()), failed: None };
                Ok(())
            }
            Err(error) => {
                reading.failed = Some((Instant::now(), error.clone()));
                Err(error)
            }
        }
    }

    async fn read(&self, doubted: Option<&Host>) -> Result<SlotMap, RedisError> {
        let known = self.slots();
        let mut hosts: Vec<Host> = known.primaries().to_vec();
        hosts.extend(self.seeds.iter().filter(|seed| !known.primaries().contains(seed)).cloned());
        hosts.sort_by_key(|host| Some(host) == doubted);
        let mut answers = stream::iter(hosts)
            .map(|host| async move { self.read_from(&host).await })
            .buffer_unordered(ASKED_TOGETHER);
        let mut last = None;
        while let Some(answer) = answers.next().await {
            match answer {
                Ok(map) if !map.primaries().is_empty() => return Ok(map),
                Ok(_) => {}
                Err(error) => last = Some(error),
            }
        }
        let nobody = || std::io::Error::other("no node of the Cluster owns a slot").into();
        Err(last.unwrap_or_else(nobody))
    }

    async fn read_from(&self, host: &Host) -> Result<SlotMap, RedisError> {
        let answer = self.link(host)?.ask(redis::cmd("CLUSTER").arg("SLOTS")).await?;
        SlotMap::read(answer, host)
    }

    /// Drops the links to nodes that are primaries no more.
    fn forget_all_but(&self, map: &SlotMap) {
        let mut links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        links.retain(|host, link| {
            let stays = map.primaries().contains(host) || self.seeds.contains(host);
            if !stays {
                link.leave();
            }
            stays
        });
    }
}
