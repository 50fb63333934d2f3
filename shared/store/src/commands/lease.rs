//! Leases: which controller leads, and in which term; and who changes routes just now.

use std::time::Duration;

use crate::{
    Store, StoreError,
    keys::{EPOCH, LEASE, ROUTES_EPOCH, ROUTES_LEASE},
    scripts,
};

/// How long a change of routes may take. Who takes longer finds that others have gone on.
const ROUTES: Duration = Duration::from_secs(10);

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
        let epoch = self.lease_call([LEASE, EPOCH], instance, length, known_epoch).await?;
        Ok((epoch > 0).then_some(epoch))
    }

    /// Gives the leadership up, if `instance` has it.
    ///
    /// # Errors
    /// As for every call to Redis.
    pub async fn release_lease(&self, instance: &str) -> Result<(), StoreError> {
        self.lease_call([LEASE, EPOCH], instance, Duration::ZERO, 0).await.map(drop)
    }

    /// Begins a change of routes, which no two callers make at the same time: whether a route is
    /// another room's is known only by looking at all rooms. Says whether `caller` may go on.
    ///
    /// # Errors
    /// As for every call to Redis.
    pub async fn begin_routes(&self, caller: &str) -> Result<bool, StoreError> {
        Ok(self.lease_call([ROUTES_LEASE, ROUTES_EPOCH], caller, ROUTES, 0).await? > 0)
    }

    /// Ends what [`Self::begin_routes`] began.
    ///
    /// # Errors
    /// As for every call to Redis.
    pub async fn end_routes(&self, caller: &str) -> Result<(), StoreError> {
        let keys = [ROUTES_LEASE, ROUTES_EPOCH];
        self.lease_call(keys, caller, Duration::ZERO, 0).await.map(drop)
    }

    /// Which instance leads, if any.
    ///
    /// # Errors
    /// As for every call to Redis.
    pub async fn leader(&self) -> Result<Option<String>, StoreError> {
        self.query(redis::cmd("GET").arg(LEASE)).await
    }

    /// A length of zero releases.
    async fn lease_call(
        &self,
        keys: [&str; 2],
        holder: &str,
        length: Duration,
        known_epoch: u64,
    ) -> Result<u64, StoreError> {
        let keys = keys.map(str::to_owned);
        let length_ms = u64::try_from(length.as_millis()).unwrap_or(u64::MAX);
        let mut call = Self::untimed(&scripts::LEASE, &keys);
        self.run(call.arg(holder).arg(length_ms).arg(known_epoch)).await
    }
}
