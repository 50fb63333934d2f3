//! Which services have stopped without knowing anything of a room that Redis does not hold.
//!
//! A server that comes back older, and a replica that lagged, lack the last of what was written, and nothing in between.
//! So where it is still on record that a service said goodbye, all is there that it had seen until then. Not so after a
//! key was lost alone; nor if the room is on another server than this record. And what the service had seen on another
//! side of a split is there only if the room was brought together since: so the goodbye counts for states of the server
//! process to which it was said. That one has heard of the other side, or awaits who was there.

use std::collections::{BTreeMap, BTreeSet};

use super::testimony::Called;
use crate::{Store, StoreError, keys::STOPS};

impl Store {
    /// The services that had stopped, and have seen nothing of the room that this state of it does not hold.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn stopped_within(&self, called: &Called) -> Result<BTreeSet<String>, StoreError> {
        if called.stored.is_none() || called.is_partial || called.server.is_empty() {
            return Ok(BTreeSet::new());
        }
        let all: BTreeMap<String, String> = self.query(redis::cmd("HGETALL").arg(STOPS)).await?;
        let is_told =
            |entry: &str| entry.split_once(' ').is_some_and(|(_, to)| to == called.server);
        Ok(all.into_iter().filter(|(_, entry)| is_told(entry)).map(|(name, _)| name).collect())
    }
}
