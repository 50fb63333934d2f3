//! The audit log: who changed what, when and from where. It is written when a change has been made, to Redis and as a
//! line of the service's log; that it cannot be written stops nothing. What is not here: which calls are noted
//! ([`crate::access`]), and how a call is followed ([`crate::layers`]).

mod entry;
mod trail;
mod view;

use std::time::Duration;

use prometheus_client::metrics::counter::Counter;
use vestibule_issuance::problem_of;
use vestibule_runtime::Problem;
use vestibule_store::{AuditLimits, AuditList, AuditPage, AuditQuery, Store};

pub(crate) use self::{
    entry::{AuditEntry, NotedEntry},
    trail::Trail,
    view::{view_of_config, view_of_line},
};

/// The most entries of a list, and the most bytes of them: Redis has them in memory.
const MOST: u64 = 100_000;
const MOST_BYTES: u64 = 64 * 1024 * 1024;
/// Those of the list of calls for single visitors, which are many and of which the latest count.
const MOST_VISITS: u64 = 20_000;
const MOST_BYTES_OF_VISITS: u64 = 8 * 1024 * 1024;

/// The audit log.
#[derive(Debug)]
pub(crate) struct AuditLog {
    store: Store,
    keep: Duration,
    failed: Counter,
}

// === impl AuditLog ===

impl AuditLog {
    /// A log in `store` that keeps entries for so long; `failed` counts what could not be written.
    pub(crate) fn new(store: Store, keep: Duration, failed: Counter) -> Self {
        Self { store, keep, failed }
    }

    /// Notes something that was done.
    pub(crate) async fn note(&self, list: AuditList, entry: &AuditEntry) {
        entry.log(list);
        let written = match serde_json::to_string(entry) {
            Ok(text) => self.store.note_audit(list, &text, self.limits(list)).await.err(),
            Err(error) => {
                tracing::error!(%error, "an audit entry cannot be written as JSON");
                self.failed.inc();
                return;
            }
        };
        if let Some(error) = written {
            let (who, action) = (&*entry.who, entry.action);
            tracing::error!(%error, who, action, "a change was made, and is missing in the audit log");
            self.failed.inc();
        }
    }

    /// Reads entries, the newest first, and whether there are no older ones.
    ///
    /// # Errors
    /// 503 while Redis is away.
    pub(crate) async fn read(
        &self,
        list: AuditList,
        query: AuditQuery,
    ) -> Result<(Vec<NotedEntry>, bool), Problem> {
        let page = self.store.read_audit(list, query).await;
        let AuditPage { entries, is_last } = page.map_err(|error| problem_of(&error))?;
        let read = |text: &String| serde_json::from_str(text);
        let entries: Result<Vec<_>, _> = entries.iter().map(read).collect();
        Ok((entries.map_err(|error| Problem::internal(&error))?, is_last))
    }

    fn limits(&self, list: AuditList) -> AuditLimits {
        let (most, most_bytes) = match list {
            AuditList::Changes => (MOST, MOST_BYTES),
            AuditList::Visits => (MOST_VISITS, MOST_BYTES_OF_VISITS),
        };
        AuditLimits { keep: self.keep, most, most_bytes }
    }
}
