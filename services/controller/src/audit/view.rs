//! What a room looks like in the audit log, and what of two such documents is told: only what differs, and nothing long.
//! Whoever makes a view leaves out what is secret, which is known there; here no member is left out for its name, since
//! operators choose the names of events and labels.

use std::cmp::Reverse;

use serde::Serialize;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use vestibule_domain::{RoomId, RoomSnapshot, schedule::RoomConfig};

use crate::api_types::{Draft, Event, Room};

/// The longest text, in bytes.
const LONGEST_TEXT: usize = 500;
/// So much of each side is told whole, in bytes.
const LONGEST: usize = 4_000;
/// The longest text or list in one that is longer, in bytes: a hash is no shorter.
const LONGEST_IN_MUCH: usize = 120;
/// So much of each side is told at all, in bytes: a list of the log has room for thousands of entries, and reading some of
/// them holds nobody up.
const MOST: usize = 14_000;
/// So many hexadecimal digits tell one hash from another.
const DIGITS: usize = 16;

/// A room's config: its document, its events by name, its page and its logo by their hashes. Settings hold no secrets; of
/// those of clients the room has hashes, which are told in part: enough to see that one was replaced.
pub(crate) fn view_of_config(room: &RoomId, config: &RoomConfig) -> Value {
    let mut view = to_value(&Room::new(room.clone(), Draft::from_config(config)));
    let events = config
        .events
        .iter()
        .map(|event| (event.name.as_str().to_owned(), to_value(&Event::from(event.clone()))));
    let branding = &config.binding.branding;
    if let Value::Object(members) = &mut view {
        members.remove("room");
        abbreviate_secret_hashes(members);
        members.insert("events".to_owned(), events.collect::<Map<_, _>>().into());
        members.insert("page".to_owned(), branding.html.as_deref().map(file).into());
        let logo = branding.logo.as_ref().map(|logo| file(&logo.base64));
        members.insert("logo".to_owned(), logo.into());
    }
    view
}

/// Where a room's line stands.
pub(crate) fn view_of_line(room: &RoomSnapshot) -> Value {
    json!({
        "reset_epoch": room.reset_epoch,
        "queue_counter": room.queue_counter,
        "serving_counter": room.serving_counter,
        "active_users": room.active + room.unconfirmed,
    })
}

/// Of two documents what differs, member by member.
pub(super) fn difference(before: &Value, after: &Value) -> (Value, Value) {
    let (Value::Object(was), Value::Object(is)) = (before, after) else {
        return (before.clone(), after.clone());
    };
    let (mut old, mut new) = (Map::new(), Map::new());
    for name in was.keys().chain(is.keys().filter(|name| !was.contains_key(*name))) {
        let (before, after) = (was.get(name), is.get(name));
        if before == after {
            continue;
        }
        let null = Value::Null;
        let (before, after) = difference(before.unwrap_or(&null), after.unwrap_or(&null));
        old.insert(name.clone(), before);
        new.insert(name.clone(), after);
    }
    (old.into(), new.into())
}

/// The same without long texts. If that is not enough, lists and more texts are told by their hashes too; but
/// every member is named and every number and switch told, so nothing can be hidden among much else. Only of what is too
/// much even so the longest members are told by their hashes as a whole.
pub(super) fn shortened(mut value: Value) -> Value {
    shorten(&mut value, LONGEST_TEXT, LONGEST);
    if value.to_string().len() > LONGEST {
        shorten(&mut value, LONGEST_IN_MUCH, LONGEST_IN_MUCH);
    }
    bound(&mut value);
    value
}

/// Tells the longest members by their hashes, until all is short enough.
fn bound(value: &mut Value) {
    let mut left = value.to_string().len();
    if let Value::Object(members) = value {
        let mut texts: Vec<_> =
            members.iter().map(|(name, value)| (name.clone(), value.to_string())).collect();
        texts.sort_by_key(|(_, text)| Reverse(text.len()));
        for (name, text) in texts {
            if left <= MOST {
                return;
            }
            let told = file(&text);
            left = (left + told.to_string().len()).saturating_sub(text.len());
            members.insert(name, told);
        }
    }
    // Nor are there so many members.
    if left > MOST {
        *value = file(&value.to_string());
    }
}

/// Tells texts and lists of more bytes by their hashes.
fn shorten(value: &mut Value, text_bytes: usize, list_bytes: usize) {
    match value {
        Value::String(text) if text.len() > text_bytes => *value = file(text),
        Value::Array(_) if value.to_string().len() > list_bytes => {
            *value = file(&value.to_string());
        }
        Value::Array(values) => {
            for value in values {
                shorten(value, text_bytes, list_bytes);
            }
        }
        Value::Object(members) => {
            for value in members.values_mut() {
                shorten(value, text_bytes, list_bytes);
            }
        }
        _ => {}
    }
}

/// Of the hashes of its clients' secrets the beginning: `sha256:` and some digits.
fn abbreviate_secret_hashes(room: &mut Map<String, Value>) {
    let clients = room.get_mut("oidc_clients").and_then(Value::as_array_mut);
    let clients = clients.into_iter().flatten().filter_map(Value::as_object_mut);
    let hashes = clients.filter_map(|client| client.get_mut("secret_hashes")?.as_array_mut());
    for hash in hashes.flatten() {
        let beginning = hash.as_str().map(|hash| hash.chars().take("sha256:".len() + DIGITS));
        *hash = beginning.map(String::from_iter).into();
    }
}

/// What is left out, by its length and its hash.
fn file(text: &str) -> Value {
    json!({ "bytes": text.len(), "sha256": hex::encode(Sha256::digest(text.as_bytes())) })
}

/// Documents of the API: writing them cannot fail.
fn to_value(document: &impl Serialize) -> Value {
    serde_json::to_value(document).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn only_what_differs_is_told() {
        let before = json!({"a": 1, "b": {"c": 2, "d": 3}, "e": [1], "gone": true});
        let after = json!({"a": 1, "b": {"c": 2, "d": 4}, "e": [1, 2], "new": "x"});
        let (old, new) = difference(&before, &after);
        assert_eq!(old, json!({"b": {"d": 3}, "e": [1], "gone": true, "new": null}));
        assert_eq!(new, json!({"b": {"d": 4}, "e": [1, 2], "gone": null, "new": "x"}));
        assert_eq!(difference(&Value::Null, &after), (Value::Null, after.clone()));
        assert_eq!(difference(&after, &after), (json!({}), json!({})));
    }

    #[test]
    fn a_page_is_told_by_its_hash() {
        let room: RoomId = "sale".parse().unwrap();
        let mut config = RoomConfig::default();
        let before = view_of_config(&room, &config);
        assert_eq!((&before["page"], &before["events"]), (&Value::Null, &json!({})));
        config.binding.branding.html = Some("<p>hunter2</p>".repeat(1_000));
        let after = view_of_config(&room, &config);
        let (old, new) = difference(&before, &after);
        assert_eq!(old, json!({"page": null}));
        assert_eq!(new["page"]["bytes"], 14_000);
        assert!(!new.to_string().contains("hunter2"));
    }

    /// Else whoever calls an event so changes limits that nobody sees.
    #[test]
    fn no_name_that_an_operator_chooses_hides_a_change() {
        let room: RoomId = "sale".parse().unwrap();
        let name = "secret-password-private_key";
        let event = json!({
            "name": name, "event_start_time": 1_000, "event_end_time": 2_000, "total_active_users": 9,
        });
        let mut config = RoomConfig {
            events: vec![serde_json::from_value(event).unwrap()],
            ..RoomConfig::default()
        };
        let labels = [(name.to_owned(), "x".to_owned())];
        config.settings.labels = serde_json::from_value(json!(BTreeMap::from(labels))).unwrap();
        let told = shortened(view_of_config(&room, &config));
        assert_eq!(told["events"][name]["total_active_users"], 9, "{told}");
        assert_eq!(told["labels"][name], "x");
        let until = json!({ "old_secret_until": "2026-11-05T10:00:00Z" });
        assert_eq!(shortened(until.clone()), until, "a time is no secret");
    }

    #[test]
    fn that_a_clients_secret_was_replaced_is_seen_and_its_hash_is_not() {
        let room: RoomId = "sale".parse().unwrap();
        let view = |hashes: &[String]| {
            let client = json!({
                "id": "shop", "redirect_uris": ["https://a.example/"], "secret_hashes": hashes,
            });
            let mut config = RoomConfig::default();
            config.binding.oidc_clients = serde_json::from_value(json!([client])).unwrap();
            shortened(view_of_config(&room, &config))["oidc_clients"][0]["secret_hashes"].clone()
        };
        let hash = |byte: &str| format!("sha256:{}", byte.repeat(32));
        let (one, other) = (view(&[hash("0a")]), view(&[hash("0b")]));
        assert_eq!((&one, &other), (&json!([&hash("0a")[..23]]), &json!([&hash("0b")[..23]])));
    }

    #[test]
    fn nothing_long_is_told() {
        let text = shortened(json!({ "text": "ü".repeat(600) }));
        assert_eq!(text, json!({ "text": file(&"ü".repeat(600)) }));
        let much = shortened(json!(vec![1; 3_000]));
        assert_eq!(much["bytes"], 6_001);
    }

    /// Else a few entries push everybody else's out, and Redis stands still while they are read.
    #[test]
    fn an_entry_is_bounded_whatever_is_changed() {
        let event = json!({ "title": { "en": "x".repeat(100) }, "total_active_users": 5 });
        let events: Map<_, _> =
            (0..1_000).map(|nth| (format!("event-{nth}"), event.clone())).collect();
        let told =
            shortened(json!({ "events": events, "queue_all": true, "labels": { "a": "b" } }));
        let whole = Value::from(events).to_string();
        let expected = json!({ "events": file(&whole), "queue_all": true, "labels": { "a": "b" } });
        assert_eq!(told, expected);
        let many: Map<_, _> = (0..9_000).map(|nth| (format!("{nth}"), json!(nth))).collect();
        for value in [json!("x".repeat(99_999)), json!(vec![vec![0; 99]; 99]), many.into()] {
            let told = shortened(value);
            assert!(told.to_string().len() <= MOST && told["sha256"].is_string(), "{told}");
        }
    }

    #[test]
    fn padding_hides_nothing() {
        let padding: Vec<_> =
            (0..200).map(|number| json!({ "host": format!("h{number}.example") })).collect();
        let told = shortened(json!({
            "total_active_users": 2_147_483_647, "queue_all": false, "labels": { "a": "b" },
            "routes": padding, "cors_origins": ["https://a.example"],
            "events": { "launch": { "total_active_users": 5, "routes": padding, "message": "x".repeat(300) } },
            "text": "x".repeat(600), "one": "x".repeat(400),
        }));
        assert_eq!(told["total_active_users"], 2_147_483_647);
        assert_eq!((&told["queue_all"], &told["labels"]), (&json!(false), &json!({ "a": "b" })));
        assert_eq!(
            told["cors_origins"],
            json!(["https://a.example"]),
            "it is shorter than its hash"
        );
        let whole = json!(padding).to_string();
        assert_eq!((&told["routes"], &told["text"]["bytes"]), (&file(&whole), &json!(600)));
        let event = &told["events"]["launch"];
        assert_eq!((&event["total_active_users"], &event["routes"]), (&json!(5), &file(&whole)));
        assert_eq!(event["message"], "x".repeat(300), "there is room for it");
        assert!(told.to_string().len() < 2_000, "{told}");
        let list = json!(vec![1; 1_000]);
        let told = shortened(json!({ "a": list, "b": { "c": list, "d": 3 }, "e": [1], "f": null }));
        let hash = file(&list.to_string());
        assert_eq!(told, json!({ "a": hash, "b": { "c": hash, "d": 3 }, "e": [1], "f": null }));
    }
}
