//! Reading a document of rooms. Everything that is wrong is noted, each with its path; a room of which something is
//! wrong is left out. What depends on other rooms, on the time or on what there is, is checked where it is planned.

use std::collections::BTreeMap;

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Map, Value};
use vestibule_domain::{
    FieldError, RoomId,
    schedule::{self, EventName, MAX_EVENTS},
};
use vestibule_page::{CustomPage, check_logo};
use vestibule_site::{Branding, Logo};

use super::{Declaration, DeclaredRoom};
use crate::api_types::{Draft, Members, Wrong};

/// What a file has for `apply`, which reads it: nobody else knows where those files are.
const FILES: [(&str, &str); 2] = [("page_file", "page"), ("logo_file", "logo")];

// === impl Declaration ===

impl Declaration {
    /// The rooms of `document` of which nothing is wrong, and what is wrong with the others.
    #[must_use]
    pub fn read(document: Value) -> (Self, Vec<FieldError>) {
        let mut errors = Vec::new();
        let rooms = match document {
            Value::Object(members) => rooms(members, &mut Wrong::new("", &mut errors)),
            _ => Wrong::new("", &mut errors).note("rooms", "is missing: rooms by name"),
        };
        let rooms = rooms.unwrap_or_default().into_iter().filter_map(|(name, room)| {
            let path = format!("rooms.{name}");
            let mut wrong = Wrong::new(&path, &mut errors);
            match RoomId::new(&name) {
                Ok(id) => Some((id, DeclaredRoom::read(members(room, &mut wrong)?, &mut wrong)?)),
                Err(error) => wrong.note("", error.to_string()),
            }
        });
        let rooms = rooms.collect();
        (Self { rooms }, errors)
    }
}

/// The rooms of the document, not looked at yet.
fn rooms(mut document: Map<String, Value>, wrong: &mut Wrong<'_>) -> Option<Map<String, Value>> {
    let rooms = document.remove("rooms");
    // Editors name the schema; `x-…` is a place for anchors.
    document.retain(|name, _| name != "$schema" && !name.starts_with("x-"));
    for name in document.keys() {
        wrong.note::<()>(
            name,
            "is unknown: a document has `rooms`, and `x-…` for parts that are used several times",
        );
    }
    match rooms {
        Some(Value::Object(rooms)) => Some(rooms),
        _ => wrong.note("rooms", "must be there, with rooms by name; `{}` for none"),
    }
}

// === impl DeclaredRoom ===

impl DeclaredRoom {
    fn read(mut members: Members, wrong: &mut Wrong<'_>) -> Option<Self> {
        let before = wrong.count();
        for (name, instead) in FILES {
            if members.0.remove(name).is_some() {
                let reason = format!(
                    "is for files that `vestibule-controller apply` reads; send `{instead}`"
                );
                wrong.note::<()>(name, reason);
            }
        }
        let page = members.0.remove("page").and_then(|page| read_page(page, wrong));
        let logo = members.0.remove("logo").and_then(|logo| read_logo(logo, wrong));
        let events = members.0.remove("events").map(|events| read_events(events, wrong));
        let draft = read_draft(members, wrong);
        let branding = Branding { html: page, logo };
        let room = Self { draft: draft?, events: events.unwrap_or_default(), branding };
        (wrong.count() == before).then_some(room)
    }
}

fn read_draft(mut members: Members, wrong: &mut Wrong<'_>) -> Option<Draft> {
    // A room that is stored without it has it on: see there.
    members.0.entry("aws_style_api").or_insert(false.into());
    let settings = members.take_noting(wrong);
    let binding = members.take_noting(wrong);
    members.note_rest(wrong);
    let draft = Draft { settings: settings?, binding: binding? };
    wrong.extend(draft.settings.errors().into_iter().chain(draft.binding.errors()));
    Some(draft)
}

fn read_events(events: Value, wrong: &mut Wrong<'_>) -> BTreeMap<EventName, schedule::Event> {
    let mut read = BTreeMap::new();
    let Some(events) = members(events, &mut wrong.below("events")) else { return read };
    // Each is compared with all others, so too many are not looked at.
    if events.0.len() > MAX_EVENTS {
        let reason = format!("are {}; at most {MAX_EVENTS} may be in a room", events.0.len());
        wrong.note::<()>("events", reason);
        return read;
    }
    for (name, event) in events.0 {
        let mut wrong = wrong.below(&format!("events.{name}"));
        let event =
            members(event, &mut wrong).and_then(|event| read_event(&name, event, &mut wrong));
        if let Some(event) = event {
            read.insert(event.name.clone(), event);
        }
    }
    read
}

fn read_event(name: &str, mut members: Members, wrong: &mut Wrong<'_>) -> Option<schedule::Event> {
    let name = match EventName::new(name) {
        Ok(name) => name,
        Err(error) => return wrong.note("", error.to_string()),
    };
    members.name_if_unnamed(&name);
    let overrides = members.take_noting(wrong);
    let event: Option<schedule::Event> = members.take_noting(wrong);
    members.note_rest(wrong);
    let (event, overrides) = (event?, overrides?);
    if event.name != name {
        return wrong.note("name", "is not the name under which the event stands");
    }
    Some(schedule::Event { overrides, ..event })
}

fn read_page(page: Value, wrong: &mut Wrong<'_>) -> Option<String> {
    match page {
        Value::Null => None,
        Value::String(html) => {
            let problems = CustomPage::check(&html).err().unwrap_or_default();
            for problem in problems {
                wrong.note::<()>("page", format!("line {}: {}", problem.line, problem.reason));
            }
            Some(html)
        }
        _ => wrong.note("page", "must be the template, as a text, or null"),
    }
}

fn read_logo(given: Value, wrong: &mut Wrong<'_>) -> Option<Logo> {
    if given.is_null() {
        return None;
    }
    let Ok(given) = serde_json::from_value::<Logo>(given) else {
        return wrong
            .note("logo", "must be `media_type` and `base64`, both texts, and nothing else");
    };
    let Ok(bytes) = STANDARD.decode(given.base64.as_bytes()) else {
        return wrong.note("logo.base64", "is not base64");
    };
    match check_logo(&given.media_type, &bytes) {
        Ok(()) => Some(given),
        Err(error) => wrong.note("logo", error.to_string()),
    }
}

/// The members of an object; null has none.
fn members(value: Value, wrong: &mut Wrong<'_>) -> Option<Members> {
    match value {
        Value::Object(members) => Some(Members(members)),
        Value::Null => Some(Members(Map::new())),
        _ => wrong.note("", "must have members by name"),
    }
}
