//! Removing what is no room's: keys of a room that hold something of another type than its scripts write there. No
//! script can read such a key, nor write it. Without it the part is lost, and lost parts are put back. The same of the
//! lists of rooms and of services, without which nobody is answered: services write them again by themselves.

use vestibule_domain::RoomId;

use crate::{
    Store, StoreError,
    keys::{FORMATS, Part, ROOMS, RoomKeys, STOPS},
};

/// The parts that are one key each, and how a key of its type is read.
const READ_BY: [(&str, &[Part]); 2] = [
    (
        "HGET",
        &[
            Part::Line,
            Part::Settings,
            Part::Records,
            Part::Rate,
            Part::Grants,
            Part::Draws,
            Part::Traffic,
            Part::Counts,
            Part::Testimony,
            Part::Inlet,
        ],
    ),
    (
        "ZSCORE",
        &[
            Part::Sessions,
            Part::Tokens,
            Part::Rows,
            Part::Door,
            Part::Asked,
            Part::Passed,
            Part::Seatless,
            Part::Holds,
            Part::Ended,
        ],
    ),
];

/// The code of Redis's refusal to read a key of another type.
const OF_ANOTHER_TYPE: &str = "WRONGTYPE";

impl Store {
    /// Removes the keys of `room` that are of another type than its scripts write. Returns whether there were any. For
    /// whoever leads, or serves the room, alone: nobody else may write such a key anew meanwhile.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn remove_foreign(&self, room: &RoomId) -> Result<bool, StoreError> {
        let mut is_any = false;
        for (read, parts) in READ_BY {
            for part in parts {
                let key = RoomKeys(room).key(*part);
                if self.is_foreign(redis::cmd(read).arg(&key).arg("")).await? {
                    tracing::error!(%room, key, "a key holds what no service has written: it is removed");
                    self.query::<u64>(redis::cmd("UNLINK").arg(&key)).await?;
                    is_any = true;
                }
            }
        }
        Ok(is_any)
    }

    /// The same of the lists of rooms and of services, for whoever leads.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn remove_foreign_lists(&self) -> Result<(), StoreError> {
        let list = |read, key| redis::cmd(read).arg(key).clone();
        let hash = |key| list("HGET", key).arg("").clone();
        for (key, read) in
            [(ROOMS, list("SMEMBERS", ROOMS)), (FORMATS, hash(FORMATS)), (STOPS, hash(STOPS))]
        {
            if self.is_foreign(&read).await? {
                tracing::error!(key, "a list holds what no service has written: it is removed");
                self.query::<u64>(redis::cmd("UNLINK").arg(key)).await?;
            }
        }
        Ok(())
    }

    /// Whether this cannot be read because the key is of another type.
    async fn is_foreign(&self, read: &redis::Cmd) -> Result<bool, StoreError> {
        match self.query::<redis::Value>(read).await {
            Ok(_) => Ok(false),
            Err(StoreError::Unexpected(why)) if why.contains(OF_ANOTHER_TYPE) => Ok(true),
            Err(error) => Err(error),
        }
    }
}
