//! Removing what is no room's: keys of a room that hold something of another type than its scripts write there. No
//! script can read such a key, nor write it. Without it the part is lost, and lost parts are put back. The same of the
//! lists of rooms and of services, without which nobody is answered, and of what the lease of controllers consists of:
//! services write these again by themselves.

use serde::{Deserialize, Serialize};
use vestibule_domain::RoomId;

use super::history::{day_of, keys_of_day};
use crate::{
    Store, StoreError,
    keys::{
        ADMISSIONS, API_TOKENS, BURIALS, CLOCK, CONFIG_CHANGES, CONTROLLERS, DELIVERIES, EPOCH,
        FORMATS, IMPORT, KEY_RING, LEASE, LEASE_LENGTH, Part, REGIONS, ROOMS, ROUTES_CHANGED,
        ROUTES_EPOCH, ROUTES_LEASE, ROUTES_LENGTH, RoomKeys, SCHEMA, SERVERS, STOPS, TERM,
        TOMBSTONES,
    },
    scripts,
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
            Part::Calls,
        ],
    ),
];

#[derive(Serialize)]
struct Arguments<'a> {
    commands: Vec<&'a str>,
}

#[derive(Deserialize)]
struct Reply {
    removed: Vec<bool>,
}

/// The code of Redis's refusal to read a key of another type.
const OF_ANOTHER_TYPE: &str = "WRONGTYPE";

impl Store {
    /// Removes the keys of `room` that are of another type than its scripts write, of its history those of today and
    /// yesterday, which are read all the time. Returns whether there were any.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn remove_foreign(&self, room: &RoomId) -> Result<bool, StoreError> {
        let (room_keys, today) = (RoomKeys(room), day_of(self.now_ms_in(room).await? / 60_000));
        let parts = READ_BY
            .iter()
            .flat_map(|(read, parts)| parts.iter().map(move |part| (*read, room_keys.key(*part))));
        let days = [today.saturating_sub(1), today].into_iter();
        let history = days.flat_map(|day| keys_of_day(room, day)).map(|key| ("HGET", key));
        let keys: Vec<(&str, String)> = parts.chain(history).collect();
        let keys: Vec<_> = keys.iter().map(|(read, key)| (*read, key.as_str())).collect();
        let removed = self.remove_those_foreign(&keys).await?;
        for key in &removed {
            tracing::error!(%room, key, "a key holds what no service has written: it is removed");
        }
        Ok(!removed.is_empty())
    }

    /// The same of the keys of the deployment, for whoever leads.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn remove_foreign_lists(&self) -> Result<(), StoreError> {
        self.remove_foreign_keys(&[
            ("SMEMBERS", ROOMS),
            ("HGET", TOMBSTONES),
            ("ZSCORE", BURIALS),
            ("GET", SCHEMA),
            ("GET", IMPORT),
            ("GET", KEY_RING),
            ("HGET", REGIONS),
            ("GET", ROUTES_LEASE),
            ("GET", ROUTES_LENGTH),
            ("GET", ROUTES_EPOCH),
            ("ZSCORE", ROUTES_CHANGED),
            ("ZSCORE", CONFIG_CHANGES),
            ("HGET", CLOCK),
            ("HGET", FORMATS),
            ("HGET", STOPS),
            ("HGET", SERVERS),
            ("HGET", ADMISSIONS),
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

    async fn remove_foreign_keys(&self, keys: &[(&str, &str)]) -> Result<(), StoreError> {
        for key in self.remove_those_foreign(keys).await? {
            tracing::error!(key, "a list holds what no service has written: it is removed");
        }
        Ok(())
    }

    /// Removes those keys that cannot be read so because they are of another type, and returns them. They are of one slot.
    async fn remove_those_foreign<'a>(
        &self,
        keys: &[(&str, &'a str)],
    ) -> Result<Vec<&'a str>, StoreError> {
        let (commands, names): (Vec<_>, Vec<_>) = keys.iter().copied().unzip();
        let arguments = Arguments { commands };
        let reply: Reply = self.call_on(&scripts::REMOVE_FOREIGN, &names, &arguments).await?;
        Ok(names
            .into_iter()
            .zip(reply.removed)
            .filter_map(|(key, gone)| gone.then_some(key))
            .collect())
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
