//! Which room covers which host and path, compiled for all rooms whenever one of them changes.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use arc_swap::ArcSwap;
use vestibule_domain::RoomId;
use vestibule_site::Coverage;
use vestibule_store::Feed;

use crate::flows::BindingHandle;

/// What all rooms cover.
#[derive(Debug)]
pub(crate) struct CoverageCache {
    feed: Feed,
    coverage: ArcSwap<Coverage<RoomId>>,
    /// One more than the version of the configs that `coverage` was compiled from; 0: none yet.
    compiled: AtomicU64,
    compiling: Mutex<()>,
    /// See [`Self::is_whole`].
    whole: AtomicBool,
}

// === impl CoverageCache ===

impl CoverageCache {
    /// The coverage of the rooms that `feed` knows.
    pub(crate) fn new(feed: Feed) -> Self {
        let coverage = ArcSwap::from_pointee(Coverage::default());
        Self {
            feed,
            coverage,
            compiled: AtomicU64::new(0),
            compiling: Mutex::default(),
            whole: AtomicBool::new(false),
        }
    }

    /// What all rooms cover, as far as this instance knows. While one request compiles a change, other
    /// requests use the old coverage. That is allowed: a change is confirmed to the operator only after
    /// [`Self::bring_up_to_date`].
    pub(crate) fn get(&self) -> Arc<Coverage<RoomId>> {
        if self.is_outdated()
            && let Ok(_compiling) = self.compiling.try_lock()
        {
            self.compile();
        }
        self.coverage.load_full()
    }

    /// Compiles what the feed has received. After it returns, every request uses that or something newer.
    pub(crate) fn bring_up_to_date(&self) {
        let _compiling = self.compiling.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_outdated() {
            self.compile();
        }
    }

    /// Whether what no room covers here is covered by none: this instance has once read the settings of all rooms. New
    /// rooms, and what existing ones cover anew, it hears of before that is confirmed to operators.
    pub(crate) fn is_whole(&self) -> bool {
        if self.whole.load(Ordering::Acquire) {
            return true;
        }
        let is_read = self.feed.has_read_every_config();
        if is_read {
            self.take_for_whole();
        }
        is_read
    }

    /// From now on what no room covers here is taken to be covered by none.
    pub(crate) fn take_for_whole(&self) {
        self.bring_up_to_date();
        self.whole.store(true, Ordering::Release);
    }

    fn is_outdated(&self) -> bool {
        self.compiled.load(Ordering::Acquire) != self.feed.configs_version() + 1
    }

    /// Call it only while `compiling` is locked, so that nothing older replaces a newer coverage.
    fn compile(&self) {
        // Read before the rooms, so the rooms are at least of this version.
        let version = self.feed.configs_version() + 1;
        self.coverage.store(Arc::new(self.coverage_of_rooms()));
        self.compiled.store(version, Ordering::Release);
    }

    fn coverage_of_rooms(&self) -> Coverage<RoomId> {
        let rooms = self.feed.rooms();
        let bindings: Vec<(RoomId, BindingHandle)> = rooms
            .iter()
            .map(|known| (known.snapshot().room.clone(), BindingHandle::for_room(known)))
            .collect();
        Coverage::new(bindings.iter().map(|(room, binding)| (room, &**binding)))
    }
}
