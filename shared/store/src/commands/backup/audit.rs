//! Copying what was changed by whom: a file tells it as the Redis did, entry by entry. What was deleted meanwhile, since
//! it was old or too much, is in neither.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Store, StoreError, commands::audit::AuditList};

/// So many entries are read and written at once.
const AT_ONCE: usize = 200;

/// Some entries of one of the two lists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditCopy {
    /// Which list.
    pub list: AuditList,
    /// By id, the microseconds since 1970 when each was noted: as they are kept, the id first.
    pub entries: BTreeMap<u64, String>,
}

impl Store {
    /// Copies a list, the oldest entries first.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn export_audit(&self, list: AuditList) -> Result<Vec<AuditCopy>, StoreError> {
        let [key, _] = list.keys();
        let (mut copies, mut after) = (Vec::new(), "-inf".to_owned());
        loop {
            let mut read = redis::cmd("ZRANGEBYSCORE");
            read.arg(key)
                .arg(&after)
                .arg("+inf")
                .arg("WITHSCORES")
                .arg("LIMIT")
                .arg(0)
                .arg(AT_ONCE);
            let found: Vec<(String, u64)> = self.query(&read).await?;
            let entries: BTreeMap<u64, String> =
                found.into_iter().map(|(entry, id)| (id, entry)).collect();
            let Some(newest) = entries.keys().next_back() else { return Ok(copies) };
            after = format!("({newest}");
            copies.push(AuditCopy { list, entries });
        }
    }

    /// Puts entries back, as they were. Nobody else notes anything meanwhile: only a restore does this, which leads.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn import_audit(&self, copy: &AuditCopy) -> Result<(), StoreError> {
        let [key, bytes_key] = copy.list.keys();
        if copy.entries.is_empty() {
            return Ok(());
        }
        let before: Option<usize> = self.query(redis::cmd("GET").arg(bytes_key)).await?;
        let mut bytes = before.unwrap_or(0);
        let mut put = redis::cmd("ZADD");
        put.arg(key);
        for (id, entry) in &copy.entries {
            put.arg(*id).arg(entry);
            bytes += entry.len();
        }
        self.query::<()>(&put).await?;
        self.query(redis::cmd("SET").arg(bytes_key).arg(bytes)).await
    }
}
