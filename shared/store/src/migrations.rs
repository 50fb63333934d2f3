//! Changing the keyspace between releases.
//!
//! Every migration is a numbered Lua file under `migrations/`, idempotent, run in order by a
//! controller; the last one's number is the schema version, kept under one key. A service refuses
//! to start against a keyspace that is newer than it knows.

use redis::Script;

use crate::{Store, StoreError, keys::SCHEMA};

struct Migration {
    version: u32,
    name: &'static str,
    source: &'static str,
}

const MIGRATIONS: &[Migration] = &[Migration {
    version: 1,
    name: "stamp",
    source: include_str!("../../../migrations/0001_stamp.lua"),
}];

/// The schema version that this release works with.
#[must_use]
pub fn known_schema() -> u32 {
    MIGRATIONS.iter().map(|migration| migration.version).max().unwrap_or(0)
}

impl Store {
    /// The keyspace's schema version; 0: an empty keyspace.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn schema(&self) -> Result<u32, StoreError> {
        let version: Option<u32> = self.query(redis::cmd("GET").arg(SCHEMA)).await?;
        Ok(version.unwrap_or(0))
    }

    /// Refuses a keyspace that is newer than this release.
    ///
    /// # Errors
    /// [`StoreError::NewerSchema`]; otherwise see [`StoreError`].
    pub async fn check_schema(&self) -> Result<u32, StoreError> {
        let (found, known) = (self.schema().await?, known_schema());
        if found > known { Err(StoreError::NewerSchema { found, known }) } else { Ok(found) }
    }

    /// Runs the migrations that are due and returns their names. Each one writes its version in the same
    /// script, and does nothing if that version or a later one is already written.
    ///
    /// # Errors
    /// [`StoreError::NewerSchema`]; otherwise see [`StoreError`].
    pub async fn migrate(&self) -> Result<Vec<&'static str>, StoreError> {
        let found = self.check_schema().await?;
        let mut ran = Vec::new();
        for migration in MIGRATIONS.iter().filter(|migration| migration.version > found) {
            let script = Script::new(migration.source);
            self.run::<()>(script.key(SCHEMA).arg(migration.version)).await?;
            tracing::info!(migration.version, migration.name, "migration ran");
            ran.push(migration.name);
        }
        Ok(ran)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn migrations_are_numbered_in_order_and_all_registered() {
        let versions: Vec<_> = MIGRATIONS.iter().map(|migration| migration.version).collect();
        assert_eq!(versions, (1..=known_schema()).collect::<Vec<_>>());
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../migrations");
        let files = std::fs::read_dir(folder).unwrap();
        let lua =
            files.filter(|f| f.as_ref().unwrap().path().extension().is_some_and(|e| e == "lua"));
        assert_eq!(lua.count(), MIGRATIONS.len());
    }
}
