//! One entry of the audit log, as it is written and as it is read.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use vestibule_domain::schedule::moment;
use vestibule_store::AuditList;

/// What was done.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct AuditEntry {
    /// The name of the token.
    pub(crate) who: Arc<str>,
    /// The operation's id.
    pub(crate) action: &'static str,
    /// The room, if it is of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) room: Option<String>,
    /// What it is about, if that is not the room itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) subject: Option<String>,
    /// What is different now, as it was.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub(crate) before: Value,
    /// The same, as it is.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub(crate) after: Value,
    /// Where the call came from.
    pub(crate) address: String,
    /// The subject of the client's certificate, if it showed one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) certificate: Option<String>,
    /// The status of the answer.
    pub(crate) status: u16,
    /// The controller that did it.
    pub(crate) controller: Arc<str>,
}

/// What was done, as it is read.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub(crate) struct NotedEntry {
    /// Its number, which rises: the microseconds since 1970.
    pub(crate) id: u64,
    /// When it was noted, by Redis's clock.
    #[serde(default)]
    #[schema(format = DateTime, example = "2026-11-05T10:00:00Z")]
    pub(crate) at: String,
    /// The name of the token: `root` is `VESTIBULE_API_TOKEN`.
    #[serde(default)]
    pub(crate) who: String,
    /// What was called: its operation id.
    #[serde(default)]
    #[schema(example = "patch_room")]
    pub(crate) action: String,
    /// The room; null: it is of none.
    #[serde(default)]
    pub(crate) room: Option<String>,
    /// What it is about, if that is not the room itself: its kind and its name, such as `session 17` (the queue number),
    /// `event launch`, `webhook ops`, `token ci` or `key 5f3a91c2`; null: it is the room, or a release noted it that told no
    /// subjects.
    #[serde(default)]
    #[schema(example = "webhook ops")]
    pub(crate) subject: Option<String>,
    /// What the call has changed, as it was before. Only what differs; null: there was nothing. Files and long texts, and
    /// lists among much else, are told as `bytes` and `sha256`.
    #[serde(default)]
    pub(crate) before: Value,
    /// The same as it is since; null: there is nothing any more.
    #[serde(default)]
    pub(crate) after: Value,
    /// Where the call came from.
    #[serde(default)]
    pub(crate) address: String,
    /// The subject of the client's certificate; null: it showed none.
    #[serde(default)]
    pub(crate) certificate: Option<String>,
    /// The status that was answered. 5xx, and 409 of an AWS-style call: whether it was done is unknown.
    #[serde(default)]
    pub(crate) status: u16,
    /// The controller that did it.
    #[serde(default)]
    pub(crate) controller: String,
}

// === impl AuditEntry ===

impl AuditEntry {
    /// Writes it to the service's log; what was done for single visitors, which is much, for those who ask for it.
    pub(super) fn log(&self, list: AuditList) {
        let Self {
            who, action, room, subject, before, after, address, certificate, status, ..
        } = self;
        match list {
            AuditList::Changes => tracing::info!(
                target: "audit",
                who = &**who,
                action,
                room,
                subject,
                %before,
                %after,
                address,
                certificate,
                status,
                "changed"
            ),
            AuditList::Visits => {
                tracing::debug!(
                    target: "audit",
                    who = &**who,
                    action,
                    room,
                    subject,
                    address,
                    certificate,
                    status,
                    "acted"
                );
            }
        }
    }
}

// === impl NotedEntry ===

impl NotedEntry {
    /// The same with its time in words.
    pub(crate) fn dated(mut self) -> Self {
        self.at = moment::write(self.id / 1_000_000).unwrap_or_default();
        self
    }
}
