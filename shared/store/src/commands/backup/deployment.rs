//! Copying what belongs to no room: keys, operators' tokens, regions, deletions, and the list of rooms.

use std::{collections::BTreeMap, time::Duration};

use serde::{Deserialize, Serialize};
use vestibule_domain::RoomId;

use crate::{
    Store, StoreError,
    keys::{API_TOKENS, EPOCH, IMPORT, KEY_RING, REGIONS, ROOMS, SCHEMA, WEBHOOKS},
    scripts,
};

/// What belongs to no room.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeploymentCopy {
    /// The keyspace's version.
    pub schema: u32,
    /// The highest epoch of a leader.
    pub epoch: u64,
    /// The sealed key ring.
    pub key_ring: Option<String>,
    /// The set of operators' tokens that were made by calls; of each its hash alone.
    #[serde(default)]
    pub api_tokens: Option<String>,
    /// The webhooks; of each its secret, sealed.
    #[serde(default)]
    pub webhooks: Option<String>,
    /// The regions, each with its index in request ids.
    pub regions: BTreeMap<String, u8>,
    /// Deleted rooms, each with its reset epoch then.
    pub tombstones: BTreeMap<RoomId, u64>,
    /// The rooms that were copied.
    pub rooms: Vec<RoomId>,
}

#[derive(Serialize)]
struct Completion {
    schema: u32,
}

#[derive(Deserialize)]
struct Completed {
    is_complete: bool,
}

impl Store {
    /// Copies what belongs to no room; `rooms` are those that were copied. Comes after them, so that every key that a
    /// record names is in the ring.
    ///
    /// # Errors
    /// [`StoreError::NewerSchema`]; otherwise see [`StoreError`].
    pub async fn export_deployment(
        &self,
        rooms: Vec<RoomId>,
    ) -> Result<DeploymentCopy, StoreError> {
        let epoch: Option<u64> = self.query(redis::cmd("GET").arg(EPOCH)).await?;
        Ok(DeploymentCopy {
            schema: self.check_schema().await?,
            epoch: epoch.unwrap_or(0),
            key_ring: self.key_ring().await?,
            api_tokens: self.api_tokens().await?,
            webhooks: self.webhooks().await?,
            regions: self.query(redis::cmd("HGETALL").arg(REGIONS)).await?,
            tombstones: self.tombstones().await?,
            rooms,
        })
    }

    /// Whether nothing of a deployment is here: neither rooms nor keys nor a keyspace's version, nor the mark of a
    /// restore. What lies at other servers of a Cluster is not seen: see [`Self::first_found`].
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn is_unused(&self) -> Result<bool, StoreError> {
        let mut any: u32 = 0;
        for key in [ROOMS, KEY_RING, SCHEMA, IMPORT] {
            any += self.query::<u32>(redis::cmd("EXISTS").arg(key)).await?;
        }
        Ok(any == 0)
    }

    /// Whether a restore has begun here that has not come to its end: what is here may be a part of what it puts back.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn is_half_imported(&self) -> Result<bool, StoreError> {
        self.query(redis::cmd("EXISTS").arg(IMPORT)).await
    }

    /// Takes the mark of a restore away: what is here is brought to its latest state by those who remember it.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn forget_import(&self) -> Result<(), StoreError> {
        self.query(redis::cmd("DEL").arg(IMPORT)).await
    }

    /// Marks that a restore has begun, and lists the rooms that are about to be put back: if that is cut short, nobody
    /// takes what is here for an unused server, or for all that there was. The mark stays until [`Self::complete_import`],
    /// or until the server is emptied.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn begin_import(&self, copy: &DeploymentCopy) -> Result<(), StoreError> {
        self.query::<()>(redis::cmd("SET").arg(IMPORT).arg(1)).await?;
        for room in &copy.rooms {
            self.list_room(room).await?;
        }
        Ok(())
    }

    /// Puts back what belongs to no room, but for the keyspace's version.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn end_import(&self, copy: &DeploymentCopy) -> Result<(), StoreError> {
        for (room, epoch) in &copy.tombstones {
            self.bury(room, *epoch).await?;
        }
        for (region, index) in &copy.regions {
            self.query::<()>(redis::cmd("HSET").arg(REGIONS).arg(region).arg(*index)).await?;
        }
        if let Some(ring) = &copy.key_ring {
            self.query::<()>(redis::cmd("SET").arg(KEY_RING).arg(ring)).await?;
        }
        if let Some(tokens) = &copy.api_tokens {
            self.query::<()>(redis::cmd("SET").arg(API_TOKENS).arg(tokens)).await?;
        }
        if let Some(webhooks) = &copy.webhooks {
            self.query::<()>(redis::cmd("SET").arg(WEBHOOKS).arg(webhooks)).await?;
        }
        Ok(())
    }

    /// Everything is there: in one step the keyspace gets its version, for which services wait that have started
    /// meanwhile, and is marked no more. Returns whether that worked; if not, the server has lost the mark.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn complete_import(&self, copy: &DeploymentCopy) -> Result<bool, StoreError> {
        let completion = Completion { schema: copy.schema };
        let completed: Completed =
            self.call_on(&scripts::COMPLETE_IMPORT, &[SCHEMA, IMPORT], &completion).await?;
        Ok(completed.is_complete)
    }

    /// Takes the lead for `length`, so that no controller does anything meanwhile, or goes on having it; returns
    /// whether that worked. The terms of the copy are over.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn lead_import(
        &self,
        name: &str,
        length: Duration,
        copy: &DeploymentCopy,
    ) -> Result<bool, StoreError> {
        Ok(self.lease(name, length, copy.epoch).await?.is_some())
    }
}
