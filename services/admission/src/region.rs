//! The region that this instance runs in.

use std::sync::atomic::{AtomicU8, Ordering};

use vestibule_store::{Store, StoreError};

/// A region: its name, and the index that request ids carry.
#[derive(Debug)]
pub(crate) struct Region {
    name: String,
    index: AtomicU8,
}

// === impl Region ===

impl Region {
    /// The region called `name`. Its index is 0 until it is read from Redis.
    pub(crate) fn new(name: String) -> Self {
        Self { name, index: AtomicU8::new(0) }
    }

    /// Its name in the traffic history.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Its index in request ids; 0 until it is read from Redis.
    pub(crate) fn index(&self) -> u8 {
        self.index.load(Ordering::Relaxed)
    }

    /// Reads the index from Redis. If Redis has lost it, writes the known one again.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub(crate) async fn learn_index(&self, store: &Store) -> Result<(), StoreError> {
        let known = Some(self.index()).filter(|index| *index > 0);
        self.index.store(store.region_index(&self.name, known).await?, Ordering::Relaxed);
        Ok(())
    }
}
