//! Tombstones: which rooms were deleted, so that nobody brings one back who remembers it. They are kept for 31
//! days, and whoever asks again is told only what is new.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use vestibule_domain::RoomId;

use crate::{
    Store, StoreError,
    keys::{BURIALS, TOMBSTONES},
    scripts,
};

/// Rooms that were deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Burials {
    /// What the next question names.
    pub revision: u64,
    /// Each with its reset epoch then: a room of this name is another one if its epoch is later.
    pub rooms: BTreeMap<RoomId, u64>,
}

#[derive(Serialize)]
struct BuryArguments<'a> {
    room: &'a RoomId,
    reset_epoch: u64,
}

#[derive(Deserialize)]
struct Buried {
    revision: u64,
}

#[derive(Serialize)]
struct TakeArguments {
    revision: Option<u64>,
}

#[derive(Deserialize)]
struct Taken {
    revision: u64,
    buried: Vec<(String, u64)>,
}

impl Store {
    /// Notes that the room of this name and of epochs up to `reset_epoch` is deleted. Returns the revision of that.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn bury(&self, room: &RoomId, reset_epoch: u64) -> Result<u64, StoreError> {
        let arguments = BuryArguments { room, reset_epoch };
        let buried: Buried =
            self.call_on(&scripts::BURY, &[TOMBSTONES, BURIALS], &arguments).await?;
        Ok(buried.revision)
    }

    /// The rooms that were deleted after `revision`; `None`: all.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn take_burials(&self, revision: Option<u64>) -> Result<Burials, StoreError> {
        let (keys, arguments) = ([TOMBSTONES, BURIALS], TakeArguments { revision });
        let taken: Taken = self.call_on(&scripts::TAKE_BURIALS, &keys, &arguments).await?;
        Ok(Burials { revision: taken.revision, rooms: named(taken.buried) })
    }

    /// All rooms that were deleted within the last 31 days.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn tombstones(&self) -> Result<BTreeMap<RoomId, u64>, StoreError> {
        Ok(named(self.query(redis::cmd("HGETALL").arg(TOMBSTONES)).await?))
    }

    /// The epoch of the last room of this name that was deleted; 0: none was.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn tombstone(&self, room: &RoomId) -> Result<u64, StoreError> {
        let mut read = redis::cmd("HGET");
        let epoch: Option<u64> = self.query(read.arg(TOMBSTONES).arg(room.as_str())).await?;
        Ok(epoch.unwrap_or(0))
    }
}

fn named(all: Vec<(String, u64)>) -> BTreeMap<RoomId, u64> {
    all.into_iter().filter_map(|(name, epoch)| Some((RoomId::new(name).ok()?, epoch))).collect()
}
