//! What was changed, by whom and when: two lists, so that calls for single visitors, of which there may be thousands a
//! second, push no operator's change out.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::in_ms;
use crate::{
    Store, StoreError,
    keys::{AUDIT, AUDIT_BYTES, VISITS_AUDIT, VISITS_AUDIT_BYTES},
    scripts,
};

/// One of the two lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AuditList {
    /// What operators change.
    Changes,
    /// What is done for single visitors.
    Visits,
}

/// How much of a list is kept. Something may stay for longer, until the next entry comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditLimits {
    /// For how long.
    pub keep: Duration,
    /// How many entries.
    pub most: u64,
    /// How many bytes of them.
    pub most_bytes: u64,
}

/// Which entries of a list are read, the newest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct AuditQuery {
    /// Only those before this id; `None`: from the newest on.
    pub before: Option<u64>,
    /// None before this id.
    pub since: u64,
    /// The most entries.
    pub limit: u64,
}

#[derive(Serialize)]
struct Arguments<'a> {
    entry: &'a str,
    keep_ms: u64,
    most: u64,
    most_bytes: u64,
}

#[derive(Deserialize)]
struct Noted {
    id: u64,
}

#[derive(Serialize)]
struct ToRead {
    #[serde(flatten)]
    query: AuditQuery,
    most_bytes: u64,
}

/// So much is read at once, in bytes, if there is more than one entry: nobody else is answered meanwhile.
const MOST_BYTES_AT_ONCE: u64 = 1024 * 1024;

/// Entries as they were noted.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct AuditPage {
    /// Each with its `id`, the newest first.
    pub entries: Vec<String>,
    /// Whether the query asks for no older ones; else there are more, beyond its limit or beyond the bytes that are read
    /// at once.
    pub is_last: bool,
}

impl Store {
    /// Writes an entry down, which must be a JSON object with members, and none of them `id`. Returns its id: the
    /// microseconds since 1970, by Redis's clock.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn note_audit(
        &self,
        list: AuditList,
        entry: &str,
        limits: AuditLimits,
    ) -> Result<u64, StoreError> {
        let AuditLimits { keep, most, most_bytes } = limits;
        let arguments = Arguments { entry, keep_ms: in_ms(keep), most, most_bytes };
        let noted: Noted = self.call_on(&scripts::NOTE_AUDIT, &list.keys(), &arguments).await?;
        Ok(noted.id)
    }

    /// Entries of a list, no more than a megabyte of them.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn read_audit(
        &self,
        list: AuditList,
        query: AuditQuery,
    ) -> Result<AuditPage, StoreError> {
        let [key, _] = list.keys();
        let query = ToRead { query, most_bytes: MOST_BYTES_AT_ONCE };
        self.call_on(&scripts::READ_AUDIT, &[key], &query).await
    }
}

// === impl AuditList ===

impl AuditList {
    pub(super) fn keys(self) -> [&'static str; 2] {
        match self {
            Self::Changes => [AUDIT, AUDIT_BYTES],
            Self::Visits => [VISITS_AUDIT, VISITS_AUDIT_BYTES],
        }
    }
}
