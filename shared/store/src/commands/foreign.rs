//! Removing what is no room's: keys of a room that hold something of another type than its scripts write there. No
//! script can read such a key, nor write it. Without it the part is lost, and lost parts are put back. The same of the
//! lists of rooms and of services, without which nobody is answered, and of what the lease of controllers consists of:
//! services write these again by themselves.

use vestibule_domain::RoomId;

use crate::{
    Store, StoreError,
    keys::{
        API_TOKENS, CONTROLLERS, DELIVERIES, EPOCH, FORMATS, LEASE, LEASE_LENGTH, Part, ROOMS,
        RoomKeys, STOPS, TERM,
    },
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

    /// The same of the lists of rooms, of services, of tokens and of deliveries, for whoever leads.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn remove_foreign_lists(&self) -> Result<(), StoreError> {
        self.remove_foreign_keys(&[
            ("SMEMBERS", ROOMS),
            ("HGET", FORMATS),
            ("HGET", STOPS),
            ("GET", API_TOKENS),
            ("HGET", DELIVERIES),
        ])
        .await
    }

    /// The same of the lease of controllers, for any of them: while it cannot be read nobody leads.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn remove_foreign_lease(&self) -> Result<(), StoreError> {
        self.remove_foreign_keys(&[
            ("GET", LEASE),
            ("GET", LEASE_LENGTH),
            ("GET", EPOCH),
            ("ZSCORE", CONTROLLERS),
            ("HGET", TERM),
        ])
        .await
    }

    /// Each with how it is read.
    async fn remove_foreign_keys(&self, keys: &[(&str, &str)]) -> Result<(), StoreError> {
        for (read, key) in keys {
            let mut command = redis::cmd(read);
            command.arg(key);
            if matches!(*read, "HGET" | "ZSCORE") {
                command.arg("");
            }
            if self.is_foreign(&command).await? {
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
            Err(error) if error.is_of_another_type() => Ok(true),
            Err(error) => Err(error),
        }
    }
}

// === impl StoreError ===

impl StoreError {
    /// Whether a key holds something of another type than it should.
    #[must_use]
    pub fn is_of_another_type(&self) -> bool {
        matches!(self, Self::Unexpected(why) if why.contains(OF_ANOTHER_TYPE))
    }
}
