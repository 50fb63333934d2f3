//! Which room covers what, compiled once for all requests and anew whenever rooms change.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicU64, Ordering},
};

use arc_swap::ArcSwap;
use vestibule_domain::{RoomId, site::Coverage};
use vestibule_store::Feed;

use crate::flows::BindingHandle;

/// What all rooms cover.
#[derive(Debug)]
pub(crate) struct CoverageCache {
    feed: Feed,
    coverage: ArcSwap<Coverage>,
    /// One more than the version of the configs that it was compiled from; 0: none yet.
    compiled: AtomicU64,
    compiling: Mutex<()>,
}

// === impl CoverageCache ===

impl CoverageCache {
    /// The coverage of the rooms that `feed` knows.
    pub(crate) fn new(feed: Feed) -> Self {
        let coverage = ArcSwap::from_pointee(Coverage::default());
        Self { feed, coverage, compiled: AtomicU64::new(0), compiling: Mutex::default() }
    }

    /// What all rooms cover, as last heard.
    pub(crate) fn get(&self) -> Arc<Coverage> {
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

    fn compile(&self) -> Coverage {
        let rooms = self.feed.rooms();
        let bindings: Vec<(RoomId, BindingHandle)> = rooms
            .iter()
            .map(|known| (known.snapshot().room.clone(), BindingHandle::for_room(known)))
            .collect();
        Coverage::new(bindings.iter().map(|(room, binding)| (room, &**binding)))
    }
}
