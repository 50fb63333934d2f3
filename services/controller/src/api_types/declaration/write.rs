//! Writing a document of rooms: in the order of the API's document, and without what has its default, unless asked for.

use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};
use utoipa::PartialSchema;
use vestibule_domain::{
    RoomSettings,
    schedule::{self, Overrides},
};
use vestibule_site::SiteBinding;

use super::{Declaration, DeclaredRoom};
use crate::api_types::members::names_of;

/// How much is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Only what differs from its default.
    Brief,
    /// Every setting of every room.
    Full,
}

/// Members in an order of their own.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Document(Vec<(String, Node)>);

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
enum Node {
    Value(Value),
    Members(Document),
}

// === impl Declaration ===

impl Declaration {
    /// As it is written.
    pub(crate) fn document(&self, detail: Detail) -> Document {
        let rooms = self.rooms.iter();
        let rooms = rooms.map(|(name, room)| (name.to_string(), room.document(detail).into()));
        Document(vec![("rooms".to_owned(), Document(rooms.collect()).into())])
    }
}

// === impl DeclaredRoom ===

impl DeclaredRoom {
    /// As it is written.
    pub(crate) fn document(&self, detail: Detail) -> Document {
        let mut members = settings(&self.draft.settings, &RoomSettings::default(), detail);
        // What a room is called by comes first.
        match members.iter().position(|(name, _)| name == "labels") {
            Some(place) => members[..=place].rotate_right(1),
            None if detail == Detail::Full => {
                members.insert(0, ("labels".to_owned(), json!({}).into()));
            }
            None => {}
        }
        members.extend(settings(&self.draft.binding, &SiteBinding::default(), detail));
        if detail == Detail::Full || !self.events.is_empty() {
            let events = self.events.iter();
            let events =
                events.map(|(name, event)| (name.to_string(), event_document(event).into()));
            members.push(("events".to_owned(), Document(events.collect()).into()));
        }
        if let Some(html) = &self.branding.html {
            members.push(("page".to_owned(), Value::from(html.as_str()).into()));
        }
        if let Some(logo) = &self.branding.logo {
            let logo = json!({ "media_type": logo.media_type, "base64": logo.base64 });
            members.push(("logo".to_owned(), logo.into()));
        }
        Document(members)
    }
}

/// An event without its name, under which it stands, without what is made here, and without what it leaves to the room.
fn event_document(event: &schedule::Event) -> Document {
    let event = schedule::Event { commitment: None, ..event.clone() }.without_secrets();
    let defaults = json!({
        "name": event.name, "description": "", "prequeue_start_time": null, "draw_at_event_start": false,
        "beacon": null, "commitment": null, "suspended": false,
    });
    let mut members = differing(&event, &defaults);
    members.extend(differing(&event.overrides, &to_value(&Overrides::default())));
    Document(members)
}

fn settings<T: Serialize + PartialSchema + 'static>(
    value: &T,
    default: &T,
    detail: Detail,
) -> Vec<(String, Node)> {
    match detail {
        Detail::Brief => differing(value, &to_value(default)),
        Detail::Full => differing(value, &Value::Null),
    }
}

/// The documented members of `value` that `defaults` has otherwise, or not at all.
fn differing<T: Serialize + PartialSchema + 'static>(
    value: &T,
    defaults: &Value,
) -> Vec<(String, Node)> {
    let Value::Object(mut members) = to_value(value) else { return Vec::new() };
    let differs = names_of::<T>().iter().filter_map(|name| {
        let value = without_defaults(members.remove(name)?, defaults.get(name))?;
        Some((name.clone(), value.into()))
    });
    differs.collect()
}

/// `value` without the members that are as in `default`; `None`: all of it is.
fn without_defaults(value: Value, default: Option<&Value>) -> Option<Value> {
    match (value, default) {
        (value, Some(default)) if value == *default => None,
        (Value::Object(members), Some(Value::Object(defaults))) => {
            let members = members.into_iter().filter_map(|(name, value)| {
                let value = without_defaults(value, defaults.get(&name))?;
                Some((name, value))
            });
            Some(members.collect::<Map<_, _>>().into())
        }
        (value, _) => Some(value),
    }
}

/// Documents of the API: writing them cannot fail.
fn to_value(document: &impl Serialize) -> Value {
    serde_json::to_value(document).unwrap_or_default()
}

// === impl Document ===

impl Serialize for Document {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

// === impl Node ===

impl From<Value> for Node {
    fn from(value: Value) -> Self {
        Self::Value(value)
    }
}

impl From<Document> for Node {
    fn from(members: Document) -> Self {
        Self::Members(members)
    }
}
