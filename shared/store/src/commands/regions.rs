//! Regions: each has a small index for request ids.

use std::collections::BTreeMap;

use crate::{Store, StoreError, keys::REGIONS};

impl Store {
    /// The index of `region`, assigned now if it is new. `known` is the index that it had before, in case
    /// the store has lost it.
    ///
    /// # Errors
    /// [`StoreError::Unexpected`] when 255 regions have one already; otherwise see [`StoreError`].
    pub async fn region_index(&self, region: &str, known: Option<u8>) -> Result<u8, StoreError> {
        loop {
            let regions: BTreeMap<String, u8> =
                self.query(redis::cmd("HGETALL").arg(REGIONS)).await?;
            if let Some(index) = regions.get(region) {
                return Ok(*index);
            }
            let highest = regions.values().copied().max().unwrap_or(0);
            let next = known.or(highest.checked_add(1));
            let next = next.ok_or_else(|| StoreError::unexpected("there are 255 regions"))?;
            // Two new regions may get the same index. That is allowed: it is a label, not a key.
            self.query::<()>(redis::cmd("HSETNX").arg(REGIONS).arg(region).arg(next)).await?;
        }
    }
}
