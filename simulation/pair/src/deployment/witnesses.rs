//! Who remembers what Redis has just lost. Nothing could bring it back if nobody did who can be asked, so faults leave
//! one such process running on each side.

use std::collections::BTreeSet;

use super::{Deployment, Which};
use crate::network::{Node, Servers};

/// For so long after a loss it may be asked for, ms: by then whoever runs has heard of it.
const ASKED_FOR_MS: u64 = 12_000;

/// The processes that ran at the last loss.
#[derive(Debug, Default)]
pub(super) struct Witnesses {
    lost_ms: Option<u64>,
    nodes: BTreeSet<Node>,
}

// === impl Deployment ===

impl Deployment {
    /// Redis loses something now.
    pub(crate) fn note_loss(&self) {
        let (now_ms, running) = (self.network().now_ms(), self.running_nodes());
        let mut witnesses = self.witnesses();
        let is_another = witnesses.lost_ms.is_some_and(|lost_ms| now_ms < lost_ms + ASKED_FOR_MS);
        // Whoever has seen only what is lost now does not remember what was lost before.
        witnesses.nodes.retain(|node| running.contains(node));
        if !is_another || witnesses.nodes.is_empty() {
            witnesses.nodes = running;
        }
        witnesses.lost_ms = Some(now_ms);
    }

    /// Whether the process at this place may end: somebody else on its side remembers what Redis has lost.
    pub(crate) fn may_end(&self, which: Which) -> bool {
        let Some(node) = self.node(which) else { return true };
        let (apart, now_ms) = self
            .network()
            .servers(|servers: &mut Servers, now_ms| (servers.apart().clone(), now_ms));
        let running = self.running_nodes();
        let witnesses = self.witnesses();
        let is_over = witnesses.lost_ms.is_none_or(|lost_ms| now_ms >= lost_ms + ASKED_FOR_MS);
        if is_over && apart.is_empty() || !witnesses.nodes.contains(&node) {
            return true;
        }
        let is_beside = |other: &Node| apart.contains(other) == apart.contains(&node);
        let mut others = witnesses.nodes.intersection(&running).filter(|other| **other != node);
        others.any(is_beside)
    }

    fn running_nodes(&self) -> BTreeSet<Node> {
        self.all().into_iter().filter_map(|which| self.node(which)).collect()
    }
}
