//! Leases: which controller leads, in which term, and which caller may change routes now.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{
    Store, StoreError,
    keys::{EPOCH, LEASE, LEASE_LENGTH, ROUTES_EPOCH, ROUTES_LEASE, ROUTES_LENGTH},
    scripts,
};

/// How long a change of routes may take. After that another caller may begin one.
const ROUTES: Duration = Duration::from_secs(10);

/// The keys of the leadership, and of changes of routes.
const LEADING: [&str; 3] = [LEASE, EPOCH, LEASE_LENGTH];
const CHANGING_ROUTES: [&str; 3] = [ROUTES_LEASE, ROUTES_EPOCH, ROUTES_LENGTH];

#[derive(Serialize)]
struct Arguments<'a> {
    holder: &'a str,
    length_ms: Option<u64>,
    known_epoch: u64,
}

#[derive(Deserialize)]
struct Reply {
    epoch: Option<u64>,
}

impl Store {
    /// Acquires or renews the leadership for `length`, on Redis's clock. Returns the fencing
    /// epoch while `instance` leads, `None` while another does. `known_epoch` is the highest that
    /// the caller has seen; the next one is higher even if the store has lost its own, or went back to an
    /// earlier one.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn lease(
        &self,
        instance: &str,
        length: Duration,
        known_epoch: u64,
    ) -> Result<Option<u64>, StoreError> {
        self.hold(LEADING, instance, Some(length), known_epoch).await
    }

    /// Gives the leadership up, if `instance` has it.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn release_lease(&self, instance: &str) -> Result<(), StoreError> {
        self.hold(LEADING, instance, None, 0).await.map(drop)
    }

    /// Begins a change of routes. Only one caller may make one at a time, because the new routes are
    /// compared with those of all rooms. Returns whether `caller` may go on.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn begin_routes(&self, caller: &str) -> Result<bool, StoreError> {
        let epoch = self.hold(CHANGING_ROUTES, caller, Some(ROUTES), 0).await?;
        Ok(epoch.is_some())
    }

    /// Ends what [`Self::begin_routes`] began.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn end_routes(&self, caller: &str) -> Result<(), StoreError> {
        self.hold(CHANGING_ROUTES, caller, None, 0).await.map(drop)
    }

    /// Which instance leads, if any.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn leader(&self) -> Result<Option<String>, StoreError> {
        self.query(redis::cmd("GET").arg(LEASE)).await
    }

    /// Returns the epoch while `holder` has the lease. Without a length, it is released.
    async fn hold(
        &self,
        keys: [&str; 3],
        holder: &str,
        length: Option<Duration>,
        known_epoch: u64,
    ) -> Result<Option<u64>, StoreError> {
        let in_ms = |length: Duration| u64::try_from(length.as_millis()).unwrap_or(u64::MAX);
        let arguments = Arguments { holder, length_ms: length.map(in_ms), known_epoch };
        let reply: Reply = self.call_on(&scripts::LEASE, &keys, &arguments).await?;
        Ok(reply.epoch)
    }
}
