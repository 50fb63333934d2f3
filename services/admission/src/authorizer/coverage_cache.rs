//! Which room covers what, compiled once for all requests and anew whenever rooms change.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicU64, Ordering},
};

use arc_swap::ArcSwap;
use vestibule_domain::RoomId;
use vestibule_site::Coverage;
use vestibule_store::Feed;

use crate::visitor::BindingHandle;

/// What all rooms cover.
#[derive(Debug)]
pub(crate) struct CoverageCache {
    feed: Feed,
    coverage: ArcSwap<Coverage<RoomId>>,
    /// The version of the plans that it was compiled from, and one; 0: none yet.
    compiled: AtomicU64,
    compiling: Mutex<()>,
}

// === impl CoverageCache ===

impl CoverageCache {
    /// A board of the rooms that `feed` knows.
    pub(crate) fn new(feed: Feed) -> Self {
        let coverage = ArcSwap::from_pointee(Coverage::default());
        Self { feed, coverage, compiled: AtomicU64::new(0), compiling: Mutex::default() }
    }

    /// What all rooms cover, as last heard.
    pub(crate) fn coverage(&self) -> Arc<Coverage<RoomId>> {
        let version = self.feed.configs_version() + 1;
        if self.compiled.load(Ordering::Acquire) != version
            // While one request compiles, others go by what was known before.
            && let Ok(_compiling) = self.compiling.try_lock()
        {
            self.coverage.store(Arc::new(self.compile()));
            self.compiled.store(version, Ordering::Release);
        }
        self.coverage.load_full()
    }

    fn compile(&self) -> Coverage<RoomId> {
        let rooms = self.feed.rooms();
        let fronts: Vec<(RoomId, BindingHandle)> = rooms
            .iter()
            .map(|known| (known.snapshot().room.clone(), BindingHandle::room(known)))
            .collect();
        Coverage::new(fronts.iter().map(|(room, binding)| (room, &**binding)))
    }
}
