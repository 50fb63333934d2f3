//! What applying a document changes, or would change: for people and programs that read it.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use vestibule_domain::RoomId;

/// What an apply has changed, or, as a dry run, would change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Plan {
    /// Whether it was only looked at.
    pub dry_run: bool,
    /// The rooms that are not as declared.
    pub steps: Vec<Step>,
    /// How many rooms are as declared already.
    pub unchanged: usize,
    /// How many rounds of beacons were not asked for, since a viewer has none asked: one that is public already would be
    /// refused. Left out: none.
    #[serde(default, skip_serializing_if = "is_none")]
    #[schema(default = 0, required = false)]
    pub unasked_beacons: usize,
}

/// What is done to one room.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Step {
    /// Its name.
    #[schema(value_type = String, example = "on-sale")]
    pub room: RoomId,
    /// What is done.
    pub action: Action,
    /// Field by field; empty for a room that is deleted.
    pub changes: Vec<FieldChange>,
    /// Who is in a room that is deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub people: Option<People>,
}

/// What is done to a room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// It is new.
    Create,
    /// It gets other settings, events or pages. Its line stays as it is.
    Change,
    /// It is deleted, with its line: it has the label of what is pruned, and is not in the document.
    Delete,
}

/// One field, before and after. A file is told by its length and SHA-256.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct FieldChange {
    /// Its path in the document.
    #[schema(example = "rooms.on-sale.total_active_users")]
    pub path: String,
    /// What was there; left out: nothing, so that it is added.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Value, required = false)]
    pub before: Option<Value>,
    /// What is there now; left out: nothing, so that it is taken away.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Value, required = false)]
    pub after: Option<Value>,
}

/// Who is in a room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct People {
    /// Who waits, and is still there.
    pub waiting: u64,
    /// Who is inside.
    pub inside: u64,
}

// === impl People ===

impl People {
    /// All of them.
    #[must_use]
    pub fn count(self) -> u64 {
        self.waiting.saturating_add(self.inside)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives it so")]
fn is_none(count: &usize) -> bool {
    *count == 0
}

/// A null that is there is not the same as nothing.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}
