//! The controllers' lease: who leads, and in which term.

use std::time::Duration;

use crate::{
    Store, StoreError,
    keys::{EPOCH, LEASE},
    scripts,
};

impl Store {
    /// Acquires or renews the leadership for `length`, on Redis's clock. Returns the fencing
    /// epoch while `instance` leads, `None` while another does. `known_epoch` is the highest that
    /// the caller has seen, for a store that has forgotten.
    ///
    /// # Errors
    /// As for every call to Redis.
    pub async fn lease(
        &self,
        instance: &str,
        length: Duration,
        known_epoch: u64,
    ) -> Result<Option<u64>, StoreError> {
        let length = u64::try_from(length.as_millis()).unwrap_or(u64::MAX).max(1);
        let epoch = self.lease_call(instance, length, known_epoch).await?;
        Ok((epoch > 0).then_some(epoch))
    }

    /// Gives the leadership up, if `instance` has it.
    ///
    /// # Errors
    /// As for every call to Redis.
    pub async fn release_lease(&self, instance: &str) -> Result<(), StoreError> {
        self.lease_call(instance, 0, 0).await.map(drop)
    }

    /// Which instance leads, if any.
    ///
    /// # Errors
    /// As for every call to Redis.
    pub async fn leader(&self) -> Result<Option<String>, StoreError> {
        self.query(redis::cmd("GET").arg(LEASE)).await
    }

    async fn lease_call(
        &self,
        instance: &str,
        length_ms: u64,
        known_epoch: u64,
    ) -> Result<u64, StoreError> {
        let keys = [LEASE.to_owned(), EPOCH.to_owned()];
        let mut call = Self::untimed(&scripts::LEASE, &keys);
        self.run(call.arg(instance).arg(length_ms).arg(known_epoch)).await
    }
}
