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
}

impl Store {
    /// Begins a change of routes. Only one caller may make one at a time, because the new routes are
    /// compared with those of all rooms. Returns whether `caller` may go on.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn begin_routes(&self, caller: &str) -> Result<bool, StoreError> {
        self.hold_routes(caller, Some(ROUTES)).await
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
    ) -> Result<bool, StoreError> {
        let arguments = Arguments { holder, length_ms: length.map(in_ms) };
        let reply: Reply = self.call_on(&scripts::LEASE, &KEYS, &arguments).await?;
        Ok(reply.is_held)
    }
}
