//! The lease of changes of routes: which caller may make one now. That of the leadership is in [`super::lead`].

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::in_ms;
use crate::{
    Store, StoreError,
    keys::{ROUTES_EPOCH, ROUTES_LEASE, ROUTES_LENGTH},
    scripts,
};

/// How long a change of routes may take. After that another caller may begin one.
const ROUTES: Duration = Duration::from_secs(10);

const KEYS: [&str; 3] = [ROUTES_LEASE, ROUTES_EPOCH, ROUTES_LENGTH];

#[derive(Serialize)]
struct Arguments<'a> {
    holder: &'a str,
    length_ms: Option<u64>,
}

#[derive(Deserialize)]
struct Reply {
    is_held: bool,
    epoch: u64,
}

/// A change of routes that was begun: which time the lease was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoutesTurn(u64);

impl Store {
    /// Begins a change of routes. Only one caller may make one at a time, because the new routes are
    /// compared with those of all rooms. `None`: another makes one.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn begin_routes(&self, caller: &str) -> Result<Option<RoutesTurn>, StoreError> {
        let Reply { is_held, epoch } = self.hold_routes(caller, Some(ROUTES)).await?;
        Ok(is_held.then_some(RoutesTurn(epoch)))
    }

    /// Goes on with a change of routes. `None`: it took so long that another has begun one since, though that may have ended.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn keep_routes(
        &self,
        caller: &str,
        RoutesTurn(begun): RoutesTurn,
    ) -> Result<Option<RoutesTurn>, StoreError> {
        let Reply { is_held, epoch } = self.hold_routes(caller, Some(ROUTES)).await?;
        // One that has run out was taken by this very call.
        let is_own = epoch == begun || epoch == begun + 1;
        Ok((is_held && is_own).then_some(RoutesTurn(epoch)))
    }

    /// Ends what [`Self::begin_routes`] began.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn end_routes(&self, caller: &str) -> Result<(), StoreError> {
        self.hold_routes(caller, None).await.map(drop)
    }

    async fn hold_routes(
        &self,
        holder: &str,
        length: Option<Duration>,
    ) -> Result<Reply, StoreError> {
        let arguments = Arguments { holder, length_ms: length.map(in_ms) };
        self.call_on(&scripts::LEASE, &KEYS, &arguments).await
    }
}
