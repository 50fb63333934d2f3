//! Removing what is no room's: keys of a room that hold something of another type than its scripts write there. No
//! script can read such a key, nor write it. Without it the part is lost, and lost parts are put back.

use vestibule_domain::RoomId;

use crate::{
    Store, StoreError,
    keys::{Part, RoomKeys},
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
                let found = self.query(redis::cmd(read).arg(&key).arg("")).await;
                let found: Result<Option<String>, _> = found;
                match found {
                    Err(StoreError::Unexpected(why)) if why.contains(OF_ANOTHER_TYPE) => {
                        tracing::error!(%room, key, "a key holds what no service has written: it is removed");
                        self.query::<u64>(redis::cmd("UNLINK").arg(&key)).await?;
                        is_any = true;
                    }
                    other => drop(other?),
                }
            }
        }
        Ok(is_any)
    }
}
