//! What is different between two states of a room, field by field, as the document names them.

use std::collections::BTreeSet;

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::api_types::{DeclaredRoom, Detail, FieldChange};

/// How much of a file's hash is told: enough to tell two files apart.
const DIGITS: usize = 16;

/// What makes `before` what is declared; `None`: the room is new. Paths begin with `path`.
pub(super) fn changes(
    path: &str,
    before: Option<&DeclaredRoom>,
    after: &DeclaredRoom,
) -> Vec<FieldChange> {
    let mut changes = Vec::new();
    // Of a new room only what differs from the defaults is worth telling.
    let detail = if before.is_some() { Detail::Full } else { Detail::Brief };
    let before = before.map(|room| view(room, detail));
    compare(path, before.as_ref(), Some(&view(after, detail)), &mut changes);
    changes
}

/// The room as it is written, with its files by their hashes.
fn view(room: &DeclaredRoom, detail: Detail) -> Value {
    let mut view = serde_json::to_value(room.document(detail)).unwrap_or_default();
    for (file, text) in [
        ("page", room.branding.html.as_deref()),
        ("logo", room.branding.logo.as_ref().map(|logo| logo.base64.as_str())),
    ] {
        if let (Some(place), Some(text)) = (view.get_mut(file), text) {
            *place = told(text).into();
        }
    }
    view
}

fn told(file: &str) -> String {
    let hash = hex::encode(Sha256::digest(file.as_bytes()));
    format!("{} bytes, SHA-256 {}…", file.len(), &hash[..DIGITS])
}

fn compare(
    path: &str,
    before: Option<&Value>,
    after: Option<&Value>,
    changes: &mut Vec<FieldChange>,
) {
    let none = serde_json::Map::new();
    let (was, is) = match (before, after) {
        (before, after) if before == after => return,
        (Some(Value::Object(was)), Some(Value::Object(is))) => (was, is),
        (None, Some(Value::Object(is))) if !is.is_empty() => (&none, is),
        _ => {
            let (before, after) = (before.cloned(), after.cloned());
            return changes.push(FieldChange { path: path.to_owned(), before, after });
        }
    };
    let names: BTreeSet<_> = was.keys().chain(is.keys()).collect();
    for name in names {
        compare(&format!("{path}.{name}"), was.get(name), is.get(name), changes);
    }
}
