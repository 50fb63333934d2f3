//! Regions: each has a small index, which request ids carry.

use std::collections::HashMap;

use crate::{Store, StoreError, keys::REGIONS};

impl Store {
    /// The index of `region`, given to it now if it is new. `known` is the index it has had, for
    /// a store that has forgotten.
    ///
    /// # Errors
    /// [`StoreError::Unexpected`] when 255 regions have one already; otherwise see [`StoreError`].
    pub async fn region_index(&self, region: &str, known: Option<u8>) -> Result<u8, StoreError> {
        loop {
            let regions: HashMap<String, u8> =
                self.query(redis::cmd("HGETALL").arg(REGIONS)).await?;
            if let Some(index) = regions.get(region) {
                return Ok(*index);
            }
            let highest = regions.values().copied().max().unwrap_or(0);
            let next = known.or(highest.checked_add(1));
            let next = next.ok_or_else(|| StoreError::unexpected("there are 255 regions"))?;
            // Two newcomers may take the same index at once; it is a label, not a key.
            self.query::<()>(redis::cmd("HSETNX").arg(REGIONS).arg(region).arg(next)).await?;
        }
    }
}
